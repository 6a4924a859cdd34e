// The one-shot brain: started by the hands for one call, where no daemon runs. It speaks with them over file descriptor 3,
// synchronously, answers, and ends.

import { OneCall } from "../brain/one-call.ts";
import { openCluster } from "../cluster/open-cluster.ts";
import { writingNow } from "../files/file-writer.ts";
import { HandsGone } from "../hands/hands.ts";
import { OneShotHands } from "../hands/one-shot-hands.ts";
import { OneShotStream, receiveCall } from "../hands/one-shot-stream.ts";
import { type LockAnswer, lockSync, type LockRequest } from "../locks/file-lock.ts";

async function main(): Promise<void> {
  try {
    const stream = new OneShotStream();
    const request = receiveCall(stream);
    const hands: OneShotHands = new OneShotHands(stream, (nested) => call.nested(nested));
    // Who waits does not read the stream, and must not go on for hands that are gone: their container may be deleted already.
    const takeLock = (wanted: LockRequest): LockAnswer => lockSync(wanted, () => hands.ensureThere());
    const call = new OneCall({
      hands,
      takeLock: async (wanted) => takeLock(wanted),
      writer: writingNow,
      // Leases and the sandbox are loaded with the first delegate, so that a call without one doesn't pay for them.
      openDelegates: async (configuration, log) => {
        const { delegatesForOneCall } = await import("./delegates-for-one-call.ts");
        return delegatesForOneCall(hands, takeLock, configuration, log);
      },
      cluster: openCluster,
    });
    hands.reply(await call.answer(request));
    // The runtime has its answer, and the hands don't wait for us.
    await call.end();
  } catch (error) {
    // Without hands nobody waits for an answer; the journal holds what the next DEL needs.
    if (!(error instanceof HandsGone)) throw error;
  }
  // Nothing is left to be done, and sandbox processes end when their pipes close.
  process.exit();
}

void main();
