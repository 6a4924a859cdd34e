import { expect, test } from "vitest";
import { SlicePublisher } from "./publish-slices.ts";

test("a registration during a round makes the next round look at the API, without a pause", async () => {
  let looks = 0;
  const answers: (() => void)[] = [];
  const publisher = new SlicePublisher({
    nodeName: "n1",
    // Without credentials a round fails, and pauses.
    api: () => {
      looks += 1;
      return new Promise((resolve) => answers.push(() => resolve(undefined)));
    },
    look: () => [],
    log: () => undefined,
    now: () => 1,
  });
  const first = publisher.round();
  publisher.renew();
  answers.pop()?.();
  await first;
  const second = publisher.round();
  answers.pop()?.();
  await second;
  await publisher.round();
  expect(looks).toBe(2);
});
