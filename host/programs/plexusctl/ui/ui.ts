// plexusctl ui: the node's state as a page, served on 127.0.0.1 or written into one file.

import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CommandLineMistake, valueOf } from "../../../../src/command-line/read-command-line.ts";
import { writeOutputFile } from "../../../store/files/output-file.ts";
import { type CommandResult, failure, type Invocation } from "../../../node/command-line/command.ts";
import { nodePlacesOf, type NodePlaces, notAbsolute } from "../../../node/command-line/common-options.ts";
import { nodePage, type PageParts } from "./page-html.ts";
import { pageReader } from "./read-page-data.ts";
import { type PageServer, servePage } from "./serve-page.ts";

/** Runs `plexusctl ui`. */
export async function uiCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readUiOptions(line);
  if ("wrong" in options) return options;
  const read = pageReader(options);
  try {
    const parts = pageParts();
    return options.html === undefined ? await serve(options.port, parts, read) : writePage(options.html, parts, await read());
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

async function serve(port: number, parts: PageParts, read: ReturnType<typeof pageReader>): Promise<CommandResult> {
  let server: PageServer;
  try {
    server = await servePage(port, parts, read);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failure(`--port ${port}: ${why}. Choose another port, or 0 for any`);
  }
  process.stdout.write(`${server.url}\n`);
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  await stopped;
  server.close();
  return { stdout: "", status: 0 };
}

function writePage(path: string, parts: PageParts, data: Awaited<ReturnType<ReturnType<typeof pageReader>>>): CommandResult {
  const { html } = nodePage(data, parts, false);
  if (path === "-") return { stdout: html, status: 0 };
  // The page names pods, so only its owner may read it.
  const written = writeOutputFile(path, html, true);
  if (!written.ok) return failure(written.fault.msg);
  return { stdout: `${path}: ${Buffer.byteLength(html)} bytes\n`, status: 0 };
}

/** The build puts the browser's code beside the program's. */
function pageParts(): PageParts {
  const directory = join(dirname(realpathSync(process.argv[1] ?? "")), "engine");
  const part = (name: string): string => readFileSync(join(directory, name), "utf8");
  return { script: part("page.js"), style: part("page.css") };
}

interface UiOptions extends NodePlaces {
  readonly port: number;
  readonly html: string | undefined;
}

function readUiOptions(line: Invocation): UiOptions | CommandLineMistake {
  const [port, html] = [valueOf(line, "port"), valueOf(line, "html")];
  if (!/^\d{1,5}$/.test(port ?? "0") || Number(port ?? "0") > 65_535)
    return { wrong: `--port ${port}: must be a number from 0 to 65535` };
  if (html !== undefined && port !== undefined) return { wrong: "--html and --port: only one is possible" };
  if (html === "") return { wrong: "--html: must be a file, or - for stdout" };
  const wrong = notAbsolute(line, "status-socket", "state-dir");
  if (wrong !== undefined) return wrong;
  return {
    port: Number(port ?? "0"),
    html,
    ...nodePlacesOf(line),
  };
}
