// For tests: the protections that an ELF file declares, read as the kernel and the loader read them.

import { readFileSync } from "node:fs";

/** The protections of an executable. */
export interface Protections {
  /** Position-independent: the kernel loads it at a random address. */
  readonly pie: boolean;
  /** Path of the dynamic loader; undefined for a static executable. */
  readonly interpreter: string | undefined;
  /** Whether the stack is not executable. */
  readonly stackNotExecutable: boolean;
  /** Whether relocated data becomes read-only, at start and completely (`-z relro -z now`). */
  readonly fullRelro: boolean;
  /** Number of segments that are both writable and executable. */
  readonly writableCode: number;
  /** Whether a segment has both code and the file's constants or headers. */
  readonly mixedCode: boolean;
  /** Whether the executable has a table of symbols. */
  readonly symbols: boolean;
  /** Indirect branches reach marked places only (x86-64: `-fcf-protection`). */
  readonly ibt: boolean;
  /** Return addresses can be compared with a shadow stack (x86-64: `-fcf-protection`). */
  readonly shadowStack: boolean;
}

const ET_DYN = 3;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const PT_LOAD = 1;
const PT_GNU_STACK = 0x6474e551;
const PT_GNU_RELRO = 0x6474e552;
const PT_GNU_PROPERTY = 0x6474e553;
const PF_X = 1;
const PF_W = 2;
const DT_BIND_NOW = 24;
const DT_FLAGS = 30;
const DF_BIND_NOW = 8;
const DT_FLAGS_1 = 0x6ffffffb;
const DF_1_NOW = 1;
const SHT_SYMTAB = 2;
/** GNU_PROPERTY_X86_FEATURE_1_AND, with its bits. */
const FEATURE_1_AND = 0xc0000002;
const IBT = 1;
const SHSTK = 2;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly fileSize: number;
}

/** Reads a little-endian ELF file of 64 bits. Throws for another file. */
export function protectionsOf(path: string): Protections {
  const file = readFileSync(path);
  if (file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1)
    throw new Error(`${path} is not ELF64, little endian`);
  const segments = segmentsOf(file);
  const ofType = (type: number): Segment | undefined => segments.find((segment) => segment.type === type);
  const loaded = segments.filter(({ type }) => type === PT_LOAD);
  const interpreter = ofType(PT_INTERP);
  const stack = ofType(PT_GNU_STACK);
  const features = featuresOf(file, ofType(PT_GNU_PROPERTY));
  return {
    pie: file.readUInt16LE(16) === ET_DYN,
    interpreter: interpreter && file.toString("latin1", interpreter.offset, interpreter.offset + interpreter.fileSize - 1),
    stackNotExecutable: stack !== undefined && (stack.flags & PF_X) === 0,
    fullRelro: ofType(PT_GNU_RELRO) !== undefined && bindsNow(file, ofType(PT_DYNAMIC)),
    writableCode: loaded.filter(({ flags }) => (flags & PF_X) !== 0 && (flags & PF_W) !== 0).length,
    mixedCode: loaded.some(({ flags, offset }) => (flags & PF_X) !== 0 && offset === 0),
    symbols: sectionTypesOf(file).includes(SHT_SYMTAB),
    ibt: (features & IBT) !== 0,
    shadowStack: (features & SHSTK) !== 0,
  };
}

function segmentsOf(file: Buffer): readonly Segment[] {
  const start = Number(file.readBigUInt64LE(32));
  const [size, count] = [file.readUInt16LE(54), file.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    const offset = Number(file.readBigUInt64LE(at + 8));
    return {
      type: file.readUInt32LE(at),
      flags: file.readUInt32LE(at + 4),
      offset,
      fileSize: Number(file.readBigUInt64LE(at + 32)),
    };
  });
}

function sectionTypesOf(file: Buffer): readonly number[] {
  const start = Number(file.readBigUInt64LE(40));
  const [size, count] = [file.readUInt16LE(58), file.readUInt16LE(60)];
  return Array.from({ length: count }, (_, index) => file.readUInt32LE(start + index * size + 4));
}

/** Without a dynamic section nothing is bound later. */
function bindsNow(file: Buffer, dynamic: Segment | undefined): boolean {
  if (dynamic === undefined) return true;
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.fileSize; at += 16) {
    const [tag, value] = [Number(file.readBigUInt64LE(at)), Number(file.readBigUInt64LE(at + 8) & 0xffff_ffffn)];
    if (tag === DT_BIND_NOW || (tag === DT_FLAGS && (value & DF_BIND_NOW) !== 0)) return true;
    if (tag === DT_FLAGS_1 && (value & DF_1_NOW) !== 0) return true;
  }
  return false;
}

/** The bits of GNU_PROPERTY_X86_FEATURE_1_AND; 0 without a note. */
function featuresOf(file: Buffer, note: Segment | undefined): number {
  if (note === undefined) return 0;
  const nameSize = file.readUInt32LE(note.offset);
  let at = note.offset + 12 + nameSize;
  const end = at + file.readUInt32LE(note.offset + 4);
  while (at + 8 <= end) {
    const [type, size] = [file.readUInt32LE(at), file.readUInt32LE(at + 4)];
    if (type === FEATURE_1_AND) return file.readUInt32LE(at + 8);
    at += 8 + Math.ceil(size / 8) * 8;
  }
  return 0;
}
