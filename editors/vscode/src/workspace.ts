// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// "Run on Workspace": all files of the compile database, those that are not open, too.

import * as vscode from "vscode";
import { run } from "./run";
import { diagnosticsOf } from "./sarif";
import { howToAnalyse, source, whatToReport } from "./settings";

export class WorkspaceRun implements vscode.Disposable {
  private readonly found = vscode.languages.createDiagnosticCollection(`${source} workspace`);
  private readonly opened: vscode.Disposable;
  private running = false;

  constructor(private readonly log: vscode.OutputChannel) {
    // From then on the server says what is found there.
    this.opened = vscode.workspace.onDidOpenTextDocument((document) =>
      this.found.delete(document.uri),
    );
  }

  dispose(): void {
    this.opened.dispose();
    this.found.dispose();
  }

  async start(): Promise<void> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter(
      (folder) => folder.uri.scheme === "file",
    );
    if (folders.length === 0)
      return void vscode.window.showInformationMessage("libtorch-tidy: no folder is open");
    if (this.running)
      return void vscode.window.showInformationMessage("libtorch-tidy: a run is going on");
    this.running = true;
    try {
      await vscode.window.withProgress(
        {
          location: vscode.ProgressLocation.Notification,
          title: "libtorch-tidy",
          cancellable: true,
        },
        (progress, token) => this.runIn(folders, progress, token),
      );
    } finally {
      this.running = false;
    }
  }

  private async runIn(
    folders: readonly vscode.WorkspaceFolder[],
    progress: vscode.Progress<{ message?: string; increment?: number }>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    this.found.clear();
    let findings = 0;
    for (const folder of folders) {
      progress.report({ message: folder.name });
      const said = await this.runOn(folder, progress, token);
      if (token.isCancellationRequested) return;
      if (said === undefined) continue;
      findings += said;
    }
    vscode.window.setStatusBarMessage(`libtorch-tidy: ${findings} findings`, 10_000);
  }

  /** The number of findings; nothing when it failed, which the user is told. */
  private async runOn(
    folder: vscode.WorkspaceFolder,
    progress: vscode.Progress<{ message?: string; increment?: number }>,
    token: vscode.CancellationToken,
  ): Promise<number | undefined> {
    const args = [...howToAnalyse(), ...whatToReport(), "--sarif=-", "--no-verify-fixes", "--progress"];
    try {
      const said = await run(args, folder.uri.fsPath, token, (line) => {
        const step = /^\[\d+\/(\d+)\] (.*)/.exec(line);
        if (step) progress.report({ message: line, increment: 100 / Number(step[1]) });
        else this.log.appendLine(line);
      });
      if (token.isCancellationRequested) return undefined;
      if (said.code !== 0 && said.code !== 1)
        this.tell(
          said.code === 3
            ? `not all files of ${folder.name} could be analysed`
            : (/error: (.*)/.exec(said.errors)?.[1] ?? "the run failed"),
        );
      return said.output ? this.show(said.output, folder.uri) : undefined;
    } catch (problem) {
      this.tell(problem instanceof Error ? problem.message : String(problem));
      return undefined;
    }
  }

  private show(sarif: string, folder: vscode.Uri): number {
    const open = new Set(
      vscode.workspace.textDocuments
        .filter((document) => ["cpp", "cuda-cpp"].includes(document.languageId))
        .map((document) => document.uri.toString()),
    );
    let count = 0;
    for (const [address, diagnostics] of diagnosticsOf(sarif, folder)) {
      count += diagnostics.length;
      if (!open.has(address)) this.found.set(vscode.Uri.parse(address), diagnostics);
    }
    return count;
  }

  private tell(problem: string): void {
    void vscode.window
      .showErrorMessage(`libtorch-tidy: ${problem}`, "Show the Log")
      .then((choice) => choice && this.log.show());
  }
}
