// Removes secrets from a text by the shape of the text: values of keys that name a secret, and well-known kinds of secrets. A
// plugin's output may quote its configuration and end in logs with more readers than the configuration has.

/** The replacement of a secret. */
export const redacted = "[redacted]";

/** The replacement of this secret. */
export type ReplaceSecret = (secret: string) => string;

const always: ReplaceSecret = () => redacted;

/** Notations of keys and values. `key` captures the key and ends where the value begins. */
interface Shape {
  readonly key: RegExp;
  /** The value at its beginning (flag y). */
  readonly value: RegExp;
  readonly isSecret: (key: string) => boolean;
}

const scalar = /"(?:[^"\\]|\\.)*"?|'[^']*'?|(?:Bearer|Basic)\s+\S+|[^\s"';,&]+/isy;

/** The bounded repetitions and the look-behinds keep the time in proportion to the text's length. */
const shapes: readonly Shape[] = [
  // `"key": "value"` as JSON, and as JSON within a JSON string, where each quote has a backslash.
  { key: /"([^"\\]{1,128})"\s{0,8}:\s{0,8}"/g, value: /(?:[^"\\]|\\.)*/sy, isSecret: isSecretKey },
  { key: /\\"([^"\\]{1,128})\\"\s{0,8}:\s{0,8}\\"/g, value: /(?:[^"\\]|\\\\\\"|\\(?!"))*/sy, isSecret: isSecretKey },
  { key: /'([^'\\]{1,128})'\s{0,8}:\s{0,8}'/g, value: /(?:[^'\\]|\\.)*/sy, isSecret: isSecretKey },
  // `"key": 12` and `"key": [...]`, up to the end of the value.
  {
    key: /\\?"([^"\\]{1,128})\\?"\s{0,8}:\s{0,8}(?=[^\s"\\])/g,
    value: /\[[^\]]*\]?|\{[^}]*\}?|[^\s",\\\]}[{]+/sy,
    isSecret: isSecretKey,
  },
  // `key=value`, `--key=value`, `key:value`. After the last part of a path a colon begins an error about that file.
  { key: /(?<![\w."-])([\w.-]{1,128})\s{0,8}=\s{0,8}/g, value: scalar, isSecret: isSecretKey },
  { key: /(?<![\w."/-])([\w.-]{1,128}):(?=\S)/g, value: scalar, isSecret: isSecretKey },
  { key: /(?<![\w."/-])([\w.-]{1,128})\s{0,8}:\s{1,8}/g, value: scalar, isSecret: isSecretInProse },
  // `--key value`
  { key: /(?<![\w."-])(-[\w.-]{1,128})\s{1,8}(?=[^\s-])/g, value: /\S+/y, isSecret: isSecretKey },
];

/** The line of a key whose value is a block scalar of YAML: the lines that follow with more indentation. */
const yamlBlock = /^([ \t]*)(?:- )?["']?([\w.-]{1,128})["']?[ \t]*:[ \t]*[|>][-+0-9]{0,2}[ \t]*\n/gm;

const scheme = /\b(Bearer|Basic)\s+([\w.~+/=-]{8,})/gi;
const userinfo = /([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@"']{1,512})@/gi;
const pem = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[^-]*(?:-----END \1-----)?/g;
/** A JSON Web Token, such as a service account's: three parts of base64url. */
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g;

/** The text with its secrets replaced, by `[redacted]` unless `replace` has something else. */
export function withoutSecrets(text: string, replace = always): string {
  let result = text.includes("-----BEGIN") ? text.replaceAll(pem, (secret) => replace(secret)) : text;
  // Most texts have no such key, and then need none of the searches for keys.
  if (secretHint.test(result)) {
    if (result.includes("\n")) result = withoutYamlBlocks(result, replace);
    for (const shape of shapes) result = withoutValues(result, shape, replace);
  }
  if (/bearer|basic/i.test(result))
    result = result.replaceAll(scheme, (_, name: string, secret: string) => `${name} ${replace(secret)}`);
  if (result.includes("://"))
    result = result.replaceAll(userinfo, (_, front: string, secret: string) => `${front}${replace(secret)}@`);
  return result.includes("eyJ") ? result.replaceAll(jwt, (secret) => replace(secret)) : result;
}

function withoutYamlBlocks(text: string, replace: ReplaceSecret): string {
  let result = "";
  let copied = 0;
  yamlBlock.lastIndex = 0;
  for (let found = yamlBlock.exec(text); found !== null; found = yamlBlock.exec(text)) {
    const [, indent = "", key = ""] = found;
    // A block of another key may have a secret key in it.
    if (!isSecretKey(key)) continue;
    const begin = yamlBlock.lastIndex;
    const end = endOfBlock(text, begin, indent);
    result += `${text.slice(copied, begin)}${indent}  ${replace(text.slice(begin, end))}\n`;
    copied = end;
    yamlBlock.lastIndex = end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

function endOfBlock(text: string, begin: number, indent: string): number {
  let end = begin;
  while (end < text.length) {
    const next = text.indexOf("\n", end);
    const line = next === -1 ? text.slice(end) : text.slice(end, next);
    const isInside = line.trim() === "" || (line.startsWith(indent) && /^[ \t]/.test(line.slice(indent.length)));
    if (!isInside) break;
    end = next === -1 ? text.length : next + 1;
  }
  return end;
}

/** The text without the values of secret keys in this shape. The text of another key's value is searched, too. */
function withoutValues(text: string, { key, value, isSecret }: Shape, replace: ReplaceSecret): string {
  let result = "";
  let copied = 0;
  key.lastIndex = 0;
  for (let found = key.exec(text); found !== null; found = key.exec(text)) {
    value.lastIndex = key.lastIndex;
    if (!isSecret(found[1] ?? "") || !value.test(text)) continue;
    result += text.slice(copied, key.lastIndex) + replace(text.slice(key.lastIndex, value.lastIndex));
    copied = value.lastIndex;
    key.lastIndex = copied;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** Every secret key contains one of these texts. Cheap, because nearly all keys have none. */
export const secretHint = /pass|pwd|secret|token|key|auth|cred|cookie|dsn|psk|jwt|otp|bearer|connection/i;

const stems =
  /passw(?:or)?d|passphrase|passcode|passkey|secret|token|credential|authorization|cookie|bearer|(?:api|access|auth|private|priv|preshared|shared|signing|encryption|ssh|tls|ssl|master|hmac|vpn|wg|wireguard)keys?$/;

const shortWords = /(?:^|[a-z])(?:pwd|dsn|psk|jwt|t?otp|creds?|auth)$|^authentication$|(?<!by|com|tres|sur)pass$/;

/** Words that describe the form of the secret, not another thing. */
const formWords: ReadonlySet<string> = new Set(
  "value values data string str text hash base b hex pem material header content contents raw plain plaintext encoded encrypted current old new default confirm confirmation".split(
    " ",
  ),
);

/** Words for something that describes or locates a secret, and is none itself. */
const harmlessWords: ReadonlySet<string> = new Set(
  "file files path paths dir directory name names namespace ref reference type kind mode method algorithm algo alg format url uri endpoint server host port ttl timeout expiry expiration expires duration lifetime length size bits enabled disabled required version policy provider issuer audience count limit rate interval usage scope scopes class rotation prefix".split(
    " ",
  ),
);

/** Words before `key` that make it no secret. `p`: the partition key of InfiniBand. */
const publicKeys: ReadonlySet<string> = new Set(
  "public pub primary foreign partition p sort map index group cache object label annotation topology sysctl config lookup routing".split(
    " ",
  ),
);

/** Longer keys are judged by their end. */
const maxKey = 256;

function wordsOf(key: string): string[] {
  return key
    .slice(-maxKey)
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
}

/** Whether the key names a secret. */
export function isSecretKey(key: string): boolean {
  if (!secretHint.test(key)) return false;
  const words = wordsOf(key);
  if (words.join("").endsWith("connectionstring")) return true;
  while (words.length > 1 && formWords.has(words.at(-1) ?? "")) words.pop();
  const [before = "", last = ""] = [words.at(-2), words.at(-1)];
  if (isHarmless(last) || (last === "id" && before !== "secret")) return false;
  if (last === "key" && words.length > 1 && publicKeys.has(before)) return false;
  return last === "key" || stems.test(words.join("")) || shortWords.test(last);
}

/** Whether a key within an object of secrets, such as `credentials.type`, has a value that is none. */
export function isHarmless(key: string): boolean {
  return harmlessWords.has(key.toLowerCase());
}

/** Whether prose such as `token: invalid` is read as a key and its value. The short words occur as ordinary words: `auth: no route`. */
export function isSecretInProse(key: string): boolean {
  return isSecretKey(key) && /passw|passphrase|secret|token|credential|cookie|authorization|pwd|dsn|psk|[a-z][-_]?key/i.test(key);
}
