// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the program says of its checks: `explain --markdown` and `why`.

import * as fs from "fs/promises";
import * as os from "os";
import * as path from "path";
import * as vscode from "vscode";
import { run } from "./run";
import { howToAnalyse, source } from "./settings";

function checkOf(diagnostic: vscode.Diagnostic): string | undefined {
  const code = diagnostic.code;
  const name = String(typeof code === "object" ? code.value : (code ?? ""));
  return diagnostic.source === source && name.startsWith("libtorch-") ? name : undefined;
}

function checksAt(document: vscode.TextDocument, range: vscode.Range): string[] {
  const checks = vscode.languages
    .getDiagnostics(document.uri)
    .filter((diagnostic) => diagnostic.range.intersection(range))
    .flatMap((diagnostic) => checkOf(diagnostic) ?? []);
  return [...new Set(checks)];
}

/** Pages that the program writes, as documents. */
export class Pages implements vscode.TextDocumentContentProvider, vscode.CodeActionProvider {
  static readonly scheme = source;
  private readonly texts = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changes.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }

  private put(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: Pages.scheme, path: "/" + name });
    this.texts.set(uri.path, text);
    this.changes.fire(uri);
    return uri;
  }

  /** Questions about the findings of a place, next to its fixes. */
  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    const actions = checksAt(document, range).map((check) => {
      const action = new vscode.CodeAction(`Explain ${check}`, vscode.CodeActionKind.QuickFix);
      action.command = { command: "libtorchTidy.explain", title: action.title, arguments: [check] };
      return action;
    });
    if (actions.length === 0) return [];
    const why = new vscode.CodeAction(
      "Why does libtorch-tidy report this line?",
      vscode.CodeActionKind.QuickFix,
    );
    why.command = { command: "libtorchTidy.why", title: why.title, arguments: [] };
    return [...actions, why];
  }

  /** The page of a check: that of the finding at the cursor, or one of all. */
  async explain(given?: string): Promise<void> {
    const check = given ?? (await this.choose());
    if (!check) return;
    const said = await run(["explain", "--markdown", check], undefined);
    if (said.code !== 0) throw new Error(said.errors.trim());
    await vscode.commands.executeCommand(
      "markdown.showPreview",
      this.put(`${check}.md`, said.output),
    );
  }

  private async choose(): Promise<string | undefined> {
    const editor = vscode.window.activeTextEditor;
    const here = editor ? checksAt(editor.document, editor.selection) : [];
    if (here.length === 1) return here[0];
    const said = await run(["--list-checks", "--json"], undefined);
    const all = JSON.parse(said.output) as { name: string; summary: string }[];
    const items = all.map(({ name, summary }) => ({ label: name, detail: summary }));
    items.sort((a, b) => Number(here.includes(b.label)) - Number(here.includes(a.label)));
    const choice = await vscode.window.showQuickPick(items, { matchOnDetail: true });
    return choice?.label;
  }

  /** The reasons that decided at the line of the cursor. */
  async why(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== "file") return;
    const document = editor.document;
    const line = editor.selection.active.line;
    const said = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "libtorch-tidy" },
      (_, token) => this.ask(document, line + 1, token),
    );
    if (said.code !== 0) throw new Error(/error: (.*)/.exec(said.errors)?.[1] ?? said.errors);
    const name = `${path.basename(document.fileName)}:${line + 1}`;
    const text = `${name}: ${document.lineAt(line).text.trim()}\n\n${said.output}`;
    const page = await vscode.workspace.openTextDocument(this.put(`why ${name}`, text));
    await vscode.window.showTextDocument(page, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
    });
  }

  /** Of the text in the editor, which need not be saved. */
  private async ask(document: vscode.TextDocument, line: number, token: vscode.CancellationToken) {
    const file = document.uri.fsPath;
    const folder = vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath;
    const args = ["why", `${file}:${line}`, file, ...howToAnalyse(), "--quiet"];
    if (!document.isDirty) return run(args, folder, token);
    const own = await fs.mkdtemp(path.join(os.tmpdir(), "libtorch-tidy-"));
    try {
      const text = path.join(own, path.basename(file));
      const overlay = path.join(own, "overlay.yaml");
      await fs.writeFile(text, document.getText());
      await fs.writeFile(
        overlay,
        JSON.stringify({
          version: 0,
          "use-external-names": false,
          roots: [{ type: "file", name: file, "external-contents": text }],
        }),
      );
      return await run([...args, `--vfsoverlay=${overlay}`], folder, token);
    } finally {
      await fs.rm(own, { recursive: true, force: true });
    }
  }
}
