// Removes secrets from a text. A plugin's output may quote its configuration and end in logs with more readers than the
// configuration has. Secrets are recognised by the names of their keys, and by the shapes of well-known kinds.

/** The replacement of a secret. */
export const redacted = "[redacted]";

const keyWords = String.raw`(?:passw(?:or)?d|passphrase|secret|token|credentials?|(?:api|access|auth|private|preshared|shared|signing|encryption)[-_]?key|[-_]key|psk|authorization)[\w.-]{0,40}`;
const name = String.raw`[\w.-]{0,40}${keyWords}`;
/** An unquoted key, matched from its first character only: matching at each `-` of `-key-key-key…` took 0.1 s for 4 KB. */
const bare = String.raw`(?<![\w."-])[\w.-]{0,128}${keyWords}`;

/** `"key": "value"` as JSON, and as JSON within a JSON string, where each quote has a backslash. */
const quoted = new RegExp(String.raw`("(?:${name})"\s{0,8}:\s{0,8}")((?:[^"\\]|\\.)*)`, "gis");
const twiceQuoted = new RegExp(String.raw`(\\"(?:${name})\\"\s{0,8}:\s{0,8}\\")((?:[^"\\]|\\\\\\"|\\(?!"))*)`, "gis");
/** `"key": 12` and `"key": [...]`, up to the end of the value. */
const other = new RegExp(String.raw`(\\?"(?:${name})\\?"\s{0,8}:\s{0,8})(\[[^\]]*\]?|\{[^}]*\}?|[^\s",\\\]}[{]+)`, "gis");
/**
 * `key=value`, `key: value`, `--key value`. A colon after the last part of a path is not matched: an error about that file
 * follows.
 */
const assigned = new RegExp(
  String.raw`((?:${bare}\s{0,8}=|(?<!/)${bare}\s{0,8}:)\s{0,8})("(?:[^"\\]|\\.)*"?|'[^']*'?|(?:Bearer|Basic)\s+\S+|[^\s"';,&]+)`,
  "gis",
);
const option = new RegExp(String.raw`((?=-)${bare}\s+)([^\s-]\S*)`, "gis");
const scheme = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;
const userinfo = /([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"']{1,512}@/gi;
const pem = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[^-]*(?:-----END \1-----)?/g;
/** A JSON Web Token, such as a service account's: three parts of base64url. */
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g;

/** A cheap test first: most log lines have none of these characters, and the nine searches take ten thousand instructions. */
const suspicious = /[:=."-]|bearer|basic/i;

/** The text with its secrets replaced. The text should have at most a few kilobytes. */
export function withoutSecrets(text: string): string {
  if (!suspicious.test(text)) return text;
  return text
    .replaceAll(pem, redacted)
    .replaceAll(quoted, `$1${redacted}`)
    .replaceAll(twiceQuoted, `$1${redacted}`)
    .replaceAll(other, `$1${redacted}`)
    .replaceAll(assigned, `$1${redacted}`)
    .replaceAll(option, `$1${redacted}`)
    .replaceAll(scheme, `$1 ${redacted}`)
    .replaceAll(userinfo, `$1${redacted}@`)
    .replaceAll(jwt, redacted);
}
