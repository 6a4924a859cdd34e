// Memory at the boundary. Everything that the host or the generated glue places for the other side comes from one
// arena of linked blocks: it is given back at once, when a call's arguments are read, after each import and after
// a result has been read. That is sound because calls don't re-enter a guest.

const FIRST: usize = 4096;
/** A block begins with the address and the size of the block before it. */
const HEADER: usize = 16;

let block: usize = 0;
let next: usize = 0;
let end: usize = 0;
/** Where `next` stands, across blocks: what a mark records. */
let lastStart: usize = 0;

/** Bytes of the text lowered last. */
export let loweredBytes: i32 = 0;

/** `size` bytes at an address that is a multiple of `align` (a power of two, at most 16). */
export function allocate(size: usize, align: usize): usize {
  let at = (next + align - 1) & ~(align - 1);
  if (block == 0 || at > end || size > end - at) {
    const room = HEADER + max(FIRST, size);
    if (room < size) abort("a value does not fit into memory");
    const fresh = heap.alloc(room);
    store<usize>(fresh, block);
    store<usize>(fresh, end, sizeof<usize>());
    block = fresh;
    end = fresh + room;
    at = fresh + HEADER;
  }
  lastStart = at;
  next = at + size;
  return at;
}

/** Room for `count` elements. */
export function allocateList(count: i32, size: usize, align: usize): usize {
  const bytes = <u64>count * <u64>size;
  if (bytes > 0x7fff_ffff) abort("a list does not fit into memory");
  return allocate(<usize>bytes, align);
}

/** The arena's present end, for {@link release}. */
export function mark(): usize {
  return next;
}

/** Gives back what was allocated since the mark was taken. */
export function release(mark: usize): void {
  while (block != 0 && !(mark >= block + HEADER && mark <= end)) {
    const before = load<usize>(block);
    end = load<usize>(block, sizeof<usize>());
    heap.free(block);
    block = before;
  }
  next = block == 0 ? 0 : mark;
  lastStart = 0;
}

/** Memory up to this many pages of 64 KiB is never swept: an instance that serves one call has no use for it. */
const SWEEP_FROM: i32 = 16;

/**
 * The end of a call: nothing of the guest's is on the stack, so that the collector of the `minimal` runtime may run.
 * That runtime never collects by itself, which halves the code: no function has to keep track of what it holds.
 */
export function finish(): void {
  reset();
  if (pages() > SWEEP_FROM) __collect();
}

/** Pages of 64 KiB that the instance has. */
export function pages(): i32 {
  return memory.size();
}

/** Gives everything back, but for one block that the next call begins with. */
export function reset(): void {
  while (block != 0) {
    const before = load<usize>(block);
    if (before == 0) break;
    end = load<usize>(block, sizeof<usize>());
    heap.free(block);
    block = before;
  }
  next = block == 0 ? 0 : block + HEADER;
  lastStart = 0;
}

/** The component model's allocator: the host places arguments and results of imports with it. */
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

/** Text to UTF-8 in the arena; its length is left in {@link loweredBytes}. A lone surrogate becomes U+FFFD. */
export function lowerString(text: string): usize {
  const bytes = String.UTF8.byteLength(text);
  const at = allocate(<usize>bytes, 1);
  String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, at, false, String.UTF8.ErrorMode.REPLACE);
  loweredBytes = bytes;
  return at;
}

export function loadString(at: usize): string {
  return liftString(<usize>load<u32>(at), <i32>load<u32>(at, 4));
}

export function storeString(at: usize, text: string): void {
  store<u32>(at, <u32>lowerString(text));
  store<u32>(at, <u32>loweredBytes, 4);
}

/** A Unicode scalar value as the boundary wants it; anything else is a defect of the guest. */
export function char(value: u32): u32 {
  if (value > 0x10_ffff || (value >= 0xd800 && value < 0xe000)) abort("a char is no Unicode scalar value");
  return value;
}
