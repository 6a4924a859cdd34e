// SHA-512 (FIPS 180-4): names by which rules are found again must not clash even where somebody wants them to, and the reference
// plugins' chains are named by it. node:crypto takes 14 ms of a call's start to load.

const ROUNDS = 80;

let constants: { readonly k: Uint32Array; readonly h: Uint32Array } | undefined;

/** The first bits of the fractional parts of the primes' cube and square roots, high word before low word. */
function constantsOf(): { readonly k: Uint32Array; readonly h: Uint32Array } {
  if (constants !== undefined) return constants;
  const primes: number[] = [];
  for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  constants = {
    k: words(primes.map((prime) => root(BigInt(prime) << 192n, 3n))),
    h: words(primes.slice(0, 8).map((prime) => root(BigInt(prime) << 128n, 2n))),
  };
  return constants;
}

function words(values: readonly bigint[]): Uint32Array {
  return Uint32Array.from(values.flatMap((value) => [Number((value >> 32n) & 0xffff_ffffn), Number(value & 0xffff_ffffn)]));
}

/** The whole part of a root, by Newton's method from above. */
function root(value: bigint, degree: bigint): bigint {
  let x = 1n << 69n; // more than any of them
  for (;;) {
    const next = ((degree - 1n) * x + value / x ** (degree - 1n)) / degree;
    if (next >= x) return x;
    x = next;
  }
}

/** The hash of a text's UTF-8, as hexadecimal digits. */
export function sha512(text: string): string {
  const { k, h } = constantsOf();
  const message = new TextEncoder().encode(text);
  const blocks = new Uint8Array((message.length + 17 + 127) & ~127);
  blocks.set(message);
  blocks[message.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 4, message.length * 8);
  const state = Uint32Array.from(h);
  const w = new Uint32Array(2 * ROUNDS);
  for (let start = 0; start < blocks.length; start += 128) {
    for (let i = 0; i < 32; i++) w[i] = view.getUint32(start + 4 * i);
    compress(state, w, k);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

// Words of 64 bits are pairs of 32: `i` is the high one's place.

function at(of: Uint32Array, i: number): number {
  return of[i] ?? 0;
}

function add(to: Uint32Array, i: number, high: number, low: number): void {
  const sum = at(to, i + 1) + (low >>> 0);
  to[i] = at(to, i) + high + (sum > 0xffff_ffff ? 1 : 0);
  to[i + 1] = sum;
}

/** The exclusive or of a word turned right by each of `turns`, and shifted right by `shift` unless that is 0. */
function mix(of: Uint32Array, i: number, turns: readonly number[], shift: number): [number, number] {
  const [high, low] = [at(of, i), at(of, i + 1)];
  const mixed: [number, number] = shift === 0 ? [0, 0] : [high >>> shift, (low >>> shift) | (high << (32 - shift))];
  for (const by of turns) {
    const [a, b] = by < 32 ? [high, low] : [low, high];
    const n = by & 31;
    mixed[0] ^= (a >>> n) | (b << (32 - n));
    mixed[1] ^= (b >>> n) | (a << (32 - n));
  }
  return mixed;
}

function compress(state: Uint32Array, w: Uint32Array, k: Uint32Array): void {
  for (let i = 32; i < 2 * ROUNDS; i += 2) {
    w[i] = at(w, i - 32);
    w[i + 1] = at(w, i - 31);
    add(w, i, ...mix(w, i - 30, [1, 8], 7));
    add(w, i, at(w, i - 14), at(w, i - 13));
    add(w, i, ...mix(w, i - 4, [19, 61], 6));
  }
  const v = Uint32Array.from(state);
  const t = new Uint32Array(4);
  for (let i = 0; i < 2 * ROUNDS; i += 2) {
    t[0] = at(v, 14);
    t[1] = at(v, 15);
    add(t, 0, ...mix(v, 8, [14, 18, 41], 0));
    add(t, 0, (at(v, 8) & at(v, 10)) ^ (~at(v, 8) & at(v, 12)), (at(v, 9) & at(v, 11)) ^ (~at(v, 9) & at(v, 13)));
    add(t, 0, at(k, i), at(k, i + 1));
    add(t, 0, at(w, i), at(w, i + 1));
    [t[2], t[3]] = mix(v, 0, [28, 34, 39], 0);
    const most = (n: number): number => (at(v, n) & at(v, n + 2)) ^ (at(v, n) & at(v, n + 4)) ^ (at(v, n + 2) & at(v, n + 4));
    add(t, 2, most(0), most(1));
    v.copyWithin(2, 0, 14);
    add(v, 8, at(t, 0), at(t, 1));
    v[0] = at(t, 2);
    v[1] = at(t, 3);
    add(v, 0, at(t, 0), at(t, 1));
  }
  for (let i = 0; i < 16; i += 2) add(state, i, at(v, i), at(v, i + 1));
}
