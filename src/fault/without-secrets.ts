// Removes secrets from a text by the shape of the text: values of keys that name a secret (secret-keys.ts), and well-known kinds of secrets. A
// plugin's output may quote its configuration and end in logs with more readers than the configuration has.

import { isSecretInProse, isSecretKey, secretHint } from "./secret-keys.ts";

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

const scheme = /\b(Bearer|Basic)\s+([\w.~+/=-]{8,})/gi;
const userinfo = /([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@"']{1,512})@/gi;
const pem = /-----BEGIN ([A-Z ]{0,40}PRIVATE KEY)-----[^-]*(?:-----END \1-----)?/g;
/** A JSON Web Token, such as a service account's: three parts of base64url. */
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g;

/** The text with its secrets replaced, by `[redacted]` unless `replace` has something else. */
export function withoutSecrets(text: string, replace = always): string {
  let result = text.includes("-----BEGIN") ? text.replaceAll(pem, (secret) => replace(secret)) : text;
  // Most texts have no such key, and then need none of the searches for keys.
  if (secretHint.test(result)) for (const shape of shapes) result = withoutValues(result, shape, replace);
  if (/bearer|basic/i.test(result))
    result = result.replaceAll(scheme, (_, name: string, secret: string) => `${name} ${replace(secret)}`);
  if (result.includes("://"))
    result = result.replaceAll(userinfo, (_, front: string, secret: string) => `${front}${replace(secret)}@`);
  return result.includes("eyJ") ? result.replaceAll(jwt, (secret) => replace(secret)) : result;
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
