// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs of the program besides the server.

import { spawn } from "child_process";
import * as vscode from "vscode";
import { findProgram } from "./settings";

export interface Said {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs the program. It is ended when `token` says so; `onLine` sees what it writes to the
 *  standard error. Rejects when it cannot be run. */
export function run(
  args: string[],
  folder: string | undefined,
  token?: vscode.CancellationToken,
  onLine?: (line: string) => void,
): Promise<Said> {
  const found = findProgram();
  if ("problem" in found) return Promise.reject(new Error(found.problem));
  return new Promise((resolve, reject) => {
    const child = spawn(found.program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    const stop = token?.onCancellationRequested(() => child.kill("SIGTERM"));
    const output: Buffer[] = [];
    let errors = "";
    let rest = "";
    child.stdout.on("data", (data: Buffer) => output.push(data));
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      errors += data;
      const lines = (rest + data).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach((line) => onLine?.(line));
    });
    child.on("error", (problem) => {
      stop?.dispose();
      reject(problem);
    });
    child.on("close", (code) => {
      stop?.dispose();
      resolve({ code, output: Buffer.concat(output).toString("utf8"), errors });
    });
  });
}
