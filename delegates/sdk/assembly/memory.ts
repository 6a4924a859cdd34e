// Memory at the boundary. Data that the host or the generated glue passes to the other side is in one arena of linked blocks. The
// arena is released when a call's arguments are read, after each import, and after a result has been read. That is safe because
// calls never re-enter a guest.

const FIRST: usize = 4096;
/** A block begins with the address and the end of the block before it, and its own end. */
const HEADER: usize = 16;
const OWN_END: usize = 8;

let block: usize = 0;
let next: usize = 0;
let end: usize = 0;
/** The position of `next`, counted across blocks: a mark records it. */
let lastStart: usize = 0;

/** Released blocks, which later values use again: the runtime frees nothing. The address of the next one stands in place of the block before. */
let released: usize = 0;

/** Bytes of the most recently lowered text. */
export let loweredBytes: i32 = 0;

/** Allocates `size` bytes at a multiple of `align` (a power of two, at most 16). */
export function allocate(size: usize, align: usize): usize {
  let at = (next + align - 1) & ~(align - 1);
  if (block == 0 || at > end || size > end - at) {
    const blockBytes = HEADER + max(FIRST, size);
    if (blockBytes < size) abort("a value does not fit into memory");
    const fresh = blockOf(blockBytes);
    store<usize>(fresh, block);
    store<usize>(fresh, end, sizeof<usize>());
    block = fresh;
    end = load<usize>(fresh, OWN_END);
    at = fresh + HEADER;
  }
  lastStart = at;
  next = at + size;
  return at;
}

/** A released block of at least this size, or a new one. */
function blockOf(bytes: usize): usize {
  let before: usize = 0;
  for (let at = released; at != 0; at = load<usize>(at)) {
    if (load<usize>(at, OWN_END) - at >= bytes) {
      if (before == 0) released = load<usize>(at);
      else store<usize>(before, load<usize>(at));
      return at;
    }
    before = at;
  }
  const fresh = heap.alloc(bytes);
  store<usize>(fresh, fresh + bytes, OWN_END);
  return fresh;
}

/** Releases the newest block. */
function releaseBlock(): void {
  const before = load<usize>(block);
  end = load<usize>(block, sizeof<usize>());
  store<usize>(block, released);
  released = block;
  block = before;
}

/** Allocates memory for `count` elements. */
export function allocateList(count: i32, size: usize, align: usize): usize {
  const bytes = <u64>count * <u64>size;
  if (bytes > 0x7fff_ffff) abort("a list does not fit into memory");
  return allocate(<usize>bytes, align);
}

/** The arena's current end, for {@link release}. */
export function mark(): usize {
  return next;
}

/** Releases all memory that was allocated after the mark. */
export function release(mark: usize): void {
  while (block != 0 && !(mark >= block + HEADER && mark <= end)) releaseBlock();
  next = block == 0 ? 0 : mark;
  lastStart = 0;
}

/** Memory of at most this many pages of 64 KiB is never swept. */
const SWEEP_FROM: i32 = 16;

/**
 * The end of a call. The runtime of delegates, `stub`, collects nothing: an instance serves one call. An instance of the kit's tests serves many with the
 * runtime `minimal`, whose collector may run here, because the stack holds no references.
 */
export function finish(): void {
  reset();
  if (pages() > SWEEP_FROM) __collect();
}

/** The instance's memory in pages of 64 KiB. */
export function pages(): i32 {
  return memory.size();
}

/** Releases everything except one block, with which the next call begins. */
export function reset(): void {
  while (block != 0 && load<usize>(block) != 0) releaseBlock();
  next = block == 0 ? 0 : block + HEADER;
  lastStart = 0;
}

/** The component model's allocator: the host allocates arguments and import results with it. */
export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  if (oldSize == 0) return allocate(size, align);
  if (size <= oldSize) return old;
  if (old == lastStart && size <= end - old) {
    next = old + size;
    return old;
  }
  const moved = allocate(size, align);
  memory.copy(moved, old, oldSize);
  return moved;
}

/** UTF-8 to text. */
export function liftString(at: usize, bytes: i32): string {
  for (let i = 0; i < bytes; i++) {
    if (load<u8>(at + i) >= 0x80) return String.UTF8.decodeUnsafe(at, bytes);
  }
  const text = changetype<string>(__new((<usize>bytes) << 1, idof<string>()));
  const to = changetype<usize>(text);
  for (let i: usize = 0; i < <usize>bytes; i++) store<u16>(to + (i << 1), load<u8>(at + i));
  return text;
}

/** Text to UTF-8 in the arena; {@link loweredBytes} is its length. A lone surrogate becomes U+FFFD. */
export function lowerString(text: string): usize {
  const bytes = String.UTF8.byteLength(text);
  const at = allocate(<usize>bytes, 1);
  String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, at, false, String.UTF8.ErrorMode.REPLACE);
  loweredBytes = bytes;
  return at;
}

/** Loads a string: its address and its length in bytes, each 32 bits. */
export function loadString(at: usize): string {
  return liftString(<usize>load<u32>(at), <i32>load<u32>(at, 4));
}

/** Stores a string as {@link loadString} reads it. */
export function storeString(at: usize, text: string): void {
  store<u32>(at, <u32>lowerString(text));
  store<u32>(at, <u32>loweredBytes, 4);
}

/** Checks a Unicode scalar value for the boundary; any other value is a defect of the guest. */
export function char(value: u32): u32 {
  if (value > 0x10_ffff || (value >= 0xd800 && value < 0xe000)) abort("a char is not a Unicode scalar value");
  return value;
}
