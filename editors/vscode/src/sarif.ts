// Part of libtorch-tidy, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Findings of SARIF as diagnostics, as the server sends them.

import * as fs from "fs";
import * as vscode from "vscode";
import { source } from "./settings";

interface Location {
  physicalLocation?: {
    artifactLocation?: { uri?: string };
    region?: { startLine?: number; startColumn?: number; endLine?: number; endColumn?: number };
  };
  message?: { text?: string };
}
interface Result {
  ruleId?: string;
  level?: string;
  message?: { text?: string };
  locations?: Location[];
  codeFlows?: { threadFlows?: { locations?: { location?: Location }[] }[] }[];
}
interface Run {
  results?: Result[];
  tool?: { driver?: { rules?: { id?: string; helpUri?: string }[] } };
}

const severities: Record<string, vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Warning,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
};

/** What addresses in a report are relative to, which the report does not say: the top of
 *  the git work tree, or the folder of the run. */
function topOf(folder: vscode.Uri): vscode.Uri {
  for (let here = folder; ; here = vscode.Uri.joinPath(here, "..")) {
    if (fs.existsSync(vscode.Uri.joinPath(here, ".git").fsPath)) return here;
    if (here.path === "/") return folder;
  }
}

function placeOf(top: vscode.Uri, location: Location | undefined): vscode.Location | undefined {
  const { artifactLocation, region } = location?.physicalLocation ?? {};
  const address = artifactLocation?.uri;
  if (address === undefined || !region?.startLine) return undefined;
  const uri = /^[a-z]+:/.test(address)
    ? vscode.Uri.parse(address, true)
    : vscode.Uri.joinPath(top, decodeURIComponent(address));
  const line = region.startLine;
  const column = region.startColumn ?? 1;
  return new vscode.Location(
    uri,
    new vscode.Range(
      line - 1,
      column - 1,
      (region.endLine ?? line) - 1,
      (region.endColumn ?? column) - 1,
    ),
  );
}

function diagnosticOf(run: Run, result: Result, range: vscode.Range, top: vscode.Uri): vscode.Diagnostic {
  const diagnostic = new vscode.Diagnostic(
    range,
    result.message?.text ?? "",
    severities[result.level ?? "warning"] ?? vscode.DiagnosticSeverity.Warning,
  );
  diagnostic.source = source;
  const page = run.tool?.driver?.rules?.find((rule) => rule.id === result.ruleId)?.helpUri;
  diagnostic.code =
    page && result.ruleId
      ? { value: result.ruleId, target: vscode.Uri.parse(page) }
      : result.ruleId;
  // The last step is the finding itself.
  const steps = result.codeFlows?.[0]?.threadFlows?.[0]?.locations?.slice(0, -1) ?? [];
  diagnostic.relatedInformation = steps.flatMap(({ location }) => {
    const place = placeOf(top, location);
    return place
      ? [new vscode.DiagnosticRelatedInformation(place, location?.message?.text ?? "")]
      : [];
  });
  return diagnostic;
}

/** Of the report of a run in that folder, by the address of the file. */
export function diagnosticsOf(text: string, folder: vscode.Uri): Map<string, vscode.Diagnostic[]> {
  const top = topOf(folder);
  const found = new Map<string, vscode.Diagnostic[]>();
  for (const run of (JSON.parse(text) as { runs?: Run[] }).runs ?? [])
    for (const result of run.results ?? []) {
      const place = placeOf(top, result.locations?.[0]);
      if (!place) continue;
      const list = found.get(place.uri.toString()) ?? [];
      list.push(diagnosticOf(run, result, place.range, top));
      found.set(place.uri.toString(), list);
    }
  return found;
}
