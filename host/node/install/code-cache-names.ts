// Names of V8's code caches. The build, the installation and the programs that read a cache share them.

/** The directory of the caches, in the directory of the code. No release has it. */
export const cacheDirectory = "code-caches";

/** The first line of a packed script is `// DIGEST`, and its cache is `DIGEST.cache`: V8 itself compares only the source's length. */
export const digestLength = 16;

/** A JavaScript expression for the name of the cache of the script `source`. */
export const cacheNameExpression = `(source.slice(3, ${3 + digestLength}) + ".cache")`;

/** The script of a sandbox process. */
export const guestScript = "guest.js";

/** The scripts with a cache. */
export const packedScripts: readonly string[] = ["once.js", "delegates.js", guestScript];
