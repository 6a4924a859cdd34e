// The one-shot brain's end of the stream: file descriptor 3, read and written synchronously. No event loop and no
// node:net, which would cost the start of every call more than all that is said here.

import { readSync, writeSync } from "node:fs";

import { fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import { isHungUp } from "../libc/libc.ts";
import { encodeFrame, FrameDecoder, protocolFault } from "./frames.ts";
import { HandsGone } from "./hands.ts";
import { decodeHandsMessage, encodeMessage } from "./message-frames.ts";
import type { BrainMessage, HandsMessage, Request } from "./messages.ts";

/** Where the hands put the stream for a brain that they start. */
export const STREAM_FD = 3;

export interface Received {
  readonly channel: number;
  readonly message: HandsMessage;
}

function good<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new HandsGone(result.fault);
}

/** Messages both ways, blocking. Every method throws HandsGone when the stream ended or is malformed. */
export class OneShotStream {
  readonly #fd: number;
  readonly #decoder = new FrameDecoder();

  constructor(fd: number = STREAM_FD) {
    this.#fd = fd;
  }

  /** Waits for the next message. */
  receive(): Received {
    for (;;) {
      const frame = good(this.#decoder.next());
      if (frame !== undefined) return { channel: frame.channel, message: good(decodeHandsMessage(frame)) };
      const count = this.#system("read", () => readSync(this.#fd, this.#decoder.room()));
      if (count === 0)
        throw new HandsGone(
          fault("HANDS_GONE", `hands: the stream ended${this.#decoder.betweenFrames ? "" : " within a frame"}`),
        );
      this.#decoder.filled(count);
    }
  }

  /** Throws where the other end is closed, though messages from it may be left. */
  ensureOpen(): void {
    if (isHungUp(this.#fd)) throw new HandsGone(fault("HANDS_GONE", "hands: the stream ended"));
  }

  /** Sends a message; returns when the system took all of it. */
  send(channel: number, message: BrainMessage): void {
    let rest = good(encodeFrame(good(encodeMessage(channel, message))));
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
      throw new HandsGone(fault("HANDS_GONE", `hands: ${call} on descriptor ${this.#fd}: ${reason}`));
    }
  }
}

/** Waits for the call that this brain was started for. Throws HandsGone. */
export function receiveCall(stream: OneShotStream): Request {
  const { channel, message } = stream.receive();
  if (channel === 0 && message.kind === "request") return message;
  throw new HandsGone(protocolFault(`the first message is ${message.kind} on channel ${channel}, not the call`));
}
