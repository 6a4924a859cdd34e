// The one-shot engine's end of the stream: file descriptor 3, read and written synchronously. Loading node:net and running an event
// loop would cost each call more than its whole traffic.

import { readSync, writeSync } from "node:fs";

import { fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import { isHungUp } from "../system/libc/libc.ts";
import { encodeFrame, FrameDecoder, protocolFault } from "./frames.ts";
import { ShimGone } from "./shim.ts";
import { decodeShimMessage, encodeMessage } from "./message-frames.ts";
import type { EngineMessage, ShimMessage, Request } from "./messages.ts";

/** The descriptor on which the shim passes the stream to an engine that it starts. */
const STREAM_FD = 3;

/** A message from the shim, with its channel. */
export interface Received {
  readonly channel: number;
  readonly message: ShimMessage;
}

function valueOrGone<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new ShimGone(result.fault);
}

/** Blocking messages in both directions. Every method throws ShimGone when the stream has ended or is malformed. */
export class OneShotStream {
  readonly #fd: number;
  readonly #decoder = new FrameDecoder();

  constructor(fd: number = STREAM_FD) {
    this.#fd = fd;
  }

  /** Waits for the next message. */
  receive(): Received {
    for (;;) {
      const frame = valueOrGone(this.#decoder.next());
      if (frame !== undefined) return { channel: frame.channel, message: valueOrGone(decodeShimMessage(frame)) };
      const count = this.#system("read", () => readSync(this.#fd, this.#decoder.room()));
      if (count === 0)
        throw new ShimGone(fault("SHIM_GONE", `shim: the stream ended${this.#decoder.betweenFrames ? "" : " within a frame"}`));
      this.#decoder.filled(count);
    }
  }

  /** Throws if the shim's end is closed, even if unread messages are left. */
  ensureOpen(): void {
    if (isHungUp(this.#fd)) throw new ShimGone(fault("SHIM_GONE", "shim: the stream ended"));
  }

  /** Sends a message; returns when the kernel has taken all of it. */
  send(channel: number, message: EngineMessage): void {
    let rest = valueOrGone(encodeFrame(valueOrGone(encodeMessage(channel, message))));
    while (rest.length > 0) {
      const bytes = rest;
      rest = bytes.subarray(this.#system("write", () => writeSync(this.#fd, bytes)));
    }
  }

  #system(call: string, act: () => number): number {
    try {
      return act();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ShimGone(fault("SHIM_GONE", `shim: ${call} on descriptor ${this.#fd}: ${reason}`));
    }
  }
}

/** Waits for the call for which this engine was started. Throws ShimGone. */
export function receiveCall(stream: OneShotStream): Request {
  const { channel, message } = stream.receive();
  if (channel === 0 && message.kind === "request") return message;
  throw new ShimGone(protocolFault(`the first message is ${message.kind} on channel ${channel}, not the call`));
}
