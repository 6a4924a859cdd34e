// The methods and messages of gRPC services, from a descriptor. Loading this module loads protobufjs.

import protobuf from "protobufjs/light.js";
import type { Result } from "../../../src/fault/result.ts";

/** Converts messages of one type. */
export interface MessageCodec {
  /** The bytes of a message. Throws for a value of another form. */
  encode(message: object): Uint8Array;
  /** The message. Field names are those of the .proto file, unset fields have their default values. Throws for malformed bytes. */
  decode(bytes: Uint8Array): object;
  /** The number of fields of the message and of the messages within, each occurrence counted. Throws for malformed bytes. */
  countFields(bytes: Uint8Array): number;
}

/** A method of a service. */
export interface RpcMethod {
  readonly name: string;
  /** The path of its HTTP request. */
  readonly path: string;
  readonly request: MessageCodec;
  readonly response: MessageCodec;
}

/** A method with one answer. */
export type UnaryRpc = (request: unknown) => Promise<Result<object>>;

/** A method with a stream of answers: calls `send` for each, until the returned function is called. */
export type StreamRpc = (send: (answer: object) => void) => Result<() => void>;

/** The implementations of a socket's methods. */
export interface Rpcs {
  /** By name. */
  readonly unary: Readonly<Record<string, UnaryRpc>>;
  /** The method that `unary` does not have; undefined if there is none. */
  readonly watch?: StreamRpc;
}

/** A known enum value is its name, an unknown one its number. */
const form = { longs: Number, enums: String, defaults: true, arrays: true, objects: true } as const;

/** protobuf's wire type of strings and messages. */
const lengthDelimited = 2;

/** The methods of services by name. `services` are full names. */
export function methodsOf(root: protobuf.NamespaceBase, services: readonly string[]): ReadonlyMap<string, RpcMethod> {
  return new Map(
    services.flatMap((name) => {
      const service = root.lookupService(name);
      return service.methodsArray.map((method): [string, RpcMethod] => [
        method.name,
        {
          name: method.name,
          path: `/${name}/${method.name}`,
          request: codecOf(service.lookupType(method.requestType)),
          response: codecOf(service.lookupType(method.responseType)),
        },
      ]);
    }),
  );
}

/** The codec of one type. */
export function codecOf(type: protobuf.Type): MessageCodec {
  return {
    encode: (message) => type.encode(type.fromObject({ ...message })).finish(),
    decode: (bytes) => type.toObject(type.decode(bufferOf(bytes)), form),
    countFields: (bytes) => countFields(protobuf.Reader.create(bufferOf(bytes)), type, bytes.length),
  };
}

/** Counts without making an object of each field: an empty message takes two bytes, and its object hundreds. */
function countFields(reader: protobuf.Reader, type: protobuf.Type, end: number): number {
  let count = 0;
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field: protobuf.Field | undefined = type.fieldsById[tag >>> 3];
    const inner = field === undefined || field.map ? null : field.resolvedType;
    count += 1;
    if (inner instanceof protobuf.Type && (tag & 7) === lengthDelimited) {
      const length = reader.uint32();
      count += countFields(reader, inner, reader.pos + length);
    } else reader.skipType(tag & 7);
  }
  return count;
}

/** The same bytes: protobufjs reads strings of a Buffer by native code. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
