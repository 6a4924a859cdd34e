// A text without the secrets that it may quote: a plugin's words may hold a piece of its configuration, and end in logs that more people
// read than may read that. Known by the names of their keys, and by the shape of what always is one.

/** What stands for a secret. */
export const redacted = "[redacted]";

const words = String.raw`(?:passw(?:or)?d|passphrase|secret|token|credentials?|(?:api|access|auth|private|preshared|shared|signing|encryption)[-_]?key|[-_]key|psk|authorization)[\w.-]{0,40}`;
const name = String.raw`[\w.-]{0,40}${words}`;
/** A key without quotes, looked for from its first character only: from each `-` of `-key-key-key…` it took 0.1 s for 4 KB. */
const bare = String.raw`(?<![\w."-])[\w.-]{0,128}${words}`;

/** `"key": "value"`, as JSON and as JSON within JSON, where the quotes have a backslash each. */
const quoted = new RegExp(String.raw`("(?:${name})"\s{0,8}:\s{0,8}")((?:[^"\\]|\\.)*)`, "gis");
const twiceQuoted = new RegExp(String.raw`(\\"(?:${name})\\"\s{0,8}:\s{0,8}\\")((?:[^"\\]|\\\\\\"|\\(?!"))*)`, "gis");
/** `"key": 12` and `"key": [...]`: up to what ends a value. */
const other = new RegExp(String.raw`(\\?"(?:${name})\\?"\s{0,8}:\s{0,8})(\[[^\]]*\]?|\{[^}]*\}?|[^\s",\\\]}[{]+)`, "gis");
/** `key=value`, `key: value`, `--key value`. What follows the last part of a path and a colon is what became of the file. */
const assigned = new RegExp(
  String.raw`((?:${bare}\s{0,8}=|(?<!/)${bare}\s{0,8}:)\s{0,8})("(?:[^"\\]|\\.)*"?|'[^']*'?|(?:Bearer|Basic)\s+\S+|[^\s"';,&]+)`,
  "gis",
);
const option = new RegExp(String.raw`((?=-)${bare}\s+)([^\s-]\S*)`, "gis");
const scheme = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;
const userinfo = /([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@"']{1,512}@/gi;
const pem = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[^-]*(?:-----END \1-----)?/g;
/** A service account's token and its like: three parts of base64url. */
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g;

/** What each of the above has in it; most lines of a log have none of it, and nine searches take ten thousand instructions. */
const suspicious = /[:=."-]|bearer|basic/i;

/** The text with its secrets replaced. Give it at most some kilobytes. */
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
