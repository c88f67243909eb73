// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libtorch-tidy in VS Code: starts the server, and shows how it is.

import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import { Pages } from "./pages";
import { findProgram, forServer, moreArguments, section, source } from "./settings";
import { WorkspaceRun } from "./workspace";

const languages = ["cpp", "cuda-cpp"];

class Extension implements vscode.Disposable {
  private readonly log = vscode.window.createOutputChannel(source);
  private readonly status = vscode.window.createStatusBarItem(source, vscode.StatusBarAlignment.Left);
  private readonly parts: vscode.Disposable[] = [];
  private client: LanguageClient | undefined;
  private problem = "";
  private last: Promise<void> = Promise.resolve();

  constructor() {
    const pages = new Pages();
    const workspace = new WorkspaceRun(this.log);
    this.status.name = source;
    this.status.command = "libtorchTidy.menu";
    const command = (name: string, action: (...args: never[]) => unknown) =>
      vscode.commands.registerCommand(`${section}.${name}`, async (...args: never[]) => {
        try {
          await action(...args);
        } catch (problem) {
          this.tell(problem);
        }
      });
    this.parts.push(
      this.log,
      this.status,
      workspace,
      vscode.workspace.registerTextDocumentContentProvider(Pages.scheme, pages),
      vscode.languages.registerCodeActionsProvider(
        languages.map((language) => ({ scheme: "file", language })),
        pages,
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
      ),
      command("runOnWorkspace", () => workspace.start()),
      command("explain", (check?: string) => pages.explain(check)),
      command("why", () => pages.why()),
      command("restart", () => this.restart()),
      command("showLog", () => this.log.show()),
      command("menu", () =>
        vscode.commands.executeCommand("workbench.action.quickOpen", `>${source}: `),
      ),
      vscode.languages.onDidChangeDiagnostics(() => this.show()),
      vscode.workspace.onDidChangeConfiguration((change) => this.configure(change)),
      // Now the settings of the folder count.
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.restart()),
    );
    void this.restart();
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.parts.forEach((part) => part.dispose());
  }

  /** One after the other. */
  private restart(): Promise<void> {
    this.last = this.last.then(async () => {
      await this.stop();
      await this.start();
    });
    return this.last;
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (problem) {
      this.log.appendLine(`the server did not end as it should: ${problem}`);
    }
  }

  private async start(): Promise<void> {
    const found = findProgram();
    this.problem = "problem" in found ? found.problem : "";
    this.show();
    if ("problem" in found) return this.log.appendLine(found.problem);
    const args = ["lsp", ...moreArguments()];
    this.log.appendLine(`${found.program} ${args.join(" ")}`);
    const client = new LanguageClient(
      section,
      source,
      { command: found.program, args },
      {
        documentSelector: languages.map((language) => ({ scheme: "file", language })),
        initializationOptions: forServer(),
        outputChannel: this.log,
      },
    );
    this.client = client;
    client.onDidChangeState(() => this.show());
    try {
      await client.start();
    } catch (problem) {
      this.problem = `the server could not be started: ${problem}`;
      this.log.appendLine(this.problem);
    }
    this.show();
  }

  private async configure(change: vscode.ConfigurationChangeEvent): Promise<void> {
    if (!change.affectsConfiguration(section)) return;
    const program = ["path", "arguments"].some((name) =>
      change.affectsConfiguration(`${section}.${name}`),
    );
    if (program || !this.client) return this.restart();
    await this.client.sendNotification("workspace/didChangeConfiguration", {
      settings: { "libtorch-tidy": forServer() },
    });
  }

  private show(): void {
    const count = vscode.languages
      .getDiagnostics()
      .flatMap(([, diagnostics]) => diagnostics)
      .filter((diagnostic) => diagnostic.source === source).length;
    const starting = this.client && this.client.state !== State.Running;
    const icon = this.problem ? "error" : starting ? "loading~spin" : count ? "warning" : "check";
    this.status.text = `$(${icon}) ${source}${!this.problem && count ? ` ${count}` : ""}`;
    this.status.tooltip = this.problem || `${count} findings in files that are open or were analysed`;
    this.status.backgroundColor = this.problem
      ? new vscode.ThemeColor("statusBarItem.errorBackground")
      : undefined;
    this.status.show();
  }

  private tell(problem: unknown): void {
    const text = problem instanceof Error ? problem.message : String(problem);
    this.log.appendLine(text);
    void vscode.window.showErrorMessage(`${source}: ${text}`);
  }
}

let extension: Extension | undefined;

export function activate(): void {
  extension = new Extension();
}

export function deactivate(): Promise<void> | undefined {
  return extension?.dispose();
}
