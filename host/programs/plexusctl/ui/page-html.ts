// The page as one self-contained HTML text: its style, its data and its script are within, and its content security policy allows nothing else.

import { createHash } from "node:crypto";
import type { PageData } from "./page-data.ts";

/** The parts of the page that the build makes. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** A page and its content security policy. */
export interface NodePage {
  readonly html: string;
  readonly policy: string;
}

/** The window's icon. Without one, a browser asks the server for /favicon.ico. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M4 4h8v8H4z' fill='none' stroke='%232a6fdb' " +
  "stroke-width='2'/%3E%3Cg fill='%238138e0'%3E%3Ccircle cx='4' cy='4' r='3'/%3E%3Ccircle cx='12' cy='12' r='3'/%3E%3C/g%3E%3C/svg%3E";

/** Makes the page. `live`: the page asks its server for new data; otherwise the page can open no connection at all. */
export function nodePage(data: PageData, { script, style }: PageParts, live: boolean): NodePage {
  // Names of pods and messages of plugins come into the page as text nodes only: Trusted Types forbid each way that parses HTML.
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "img-src data:",
    `connect-src ${live ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}">
<title>Plexus on ${escaped(data.node)}</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript><p>This page needs JavaScript. plexusctl status prints the same state as text.</p></noscript>
<script type="application/json" id="data" data-live="${live ? "yes" : "no"}">${inScript(data)}</script>
<script>${script}</script>
</body>
</html>
`;
  return { html, policy };
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}

/** JSON that cannot end the script element, and cannot begin a comment in it. */
function inScript(data: PageData): string {
  return JSON.stringify(data).replaceAll("<", "\\u003c");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
