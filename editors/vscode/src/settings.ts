// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the user has set, and which program that means.

import * as fs from "fs";
import * as path from "path";
import * as vscode from "vscode";

export const section = "libtorchTidy";
export const source = "libtorch-tidy";

/** In a folder that is not trusted, VS Code leaves out what that folder sets of the
 *  settings that package.json calls restricted. */
function get<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration(section).get<T>(name) ?? otherwise;
}

/** As the server takes them. What is not set is as .clang-tidy says. */
export function forServer(): Record<string, unknown> {
  return {
    level: get<number | null>("level", null),
    checks: get("checks", "") || null,
    buildPath: get("buildPath", "") || null,
    extraArgs: get<string[]>("extraArgs", []),
    extraArgsBefore: get<string[]>("extraArgsBefore", []),
  };
}

export function moreArguments(): string[] {
  return get<string[]>("arguments", []);
}

/** The same for a command line: how files are compiled, and what is looked for. */
export function howToAnalyse(): string[] {
  const checks = get("checks", "");
  const buildPath = get("buildPath", "");
  return [
    ...(checks ? [`--checks=${checks}`] : []),
    ...(buildPath ? ["-p", buildPath] : []),
    ...get<string[]>("extraArgs", []).map((flag) => `--extra-arg=${flag}`),
    ...get<string[]>("extraArgsBefore", []).map((flag) => `--extra-arg-before=${flag}`),
  ];
}

/** And which findings are reported. */
export function whatToReport(): string[] {
  const level = get<number | null>("level", null);
  return [...moreArguments(), ...(level === null ? [] : [`--level=${level}`])];
}

function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function isInWorkspace(file: string): boolean {
  const real = fs.realpathSync(file);
  return (vscode.workspace.workspaceFolders ?? []).some((folder) => {
    if (folder.uri.scheme !== "file" || !fs.existsSync(folder.uri.fsPath)) return false;
    const rest = path.relative(fs.realpathSync(folder.uri.fsPath), real);
    return rest !== ".." && !rest.startsWith(".." + path.sep) && !path.isAbsolute(rest);
  });
}

/** The program, by an absolute path, or why there is none. */
export function findProgram(): { program: string } | { problem: string } {
  const given = get("path", "").replace(/^~(?=\/)/, process.env.HOME ?? "~");
  if (given && !path.isAbsolute(given))
    return { problem: `the setting '${section}.path' must be an absolute path, not '${given}'` };
  if (given && !isProgram(given))
    return { problem: `the setting '${section}.path' names '${given}', which is no program` };
  if (given) return { program: given };
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(path.isAbsolute);
  for (const folder of folders) {
    const file = path.join(folder, "libtorch-tidy");
    // Whoever wrote a folder that is not trusted could have put it there.
    if (isProgram(file) && (vscode.workspace.isTrusted || !isInWorkspace(file)))
      return { program: file };
  }
  return {
    problem: `there is no 'libtorch-tidy' in the folders of PATH: install it, or name it in the setting '${section}.path'`,
  };
}
