// `node test/lab/image/get.ts` gets the programs of an image build before the tests enter a network namespace without a route. The program
// never fails: without them it prints one line.

import { getImagePrograms, imagePrograms } from "./programs.ts";

const say = (text: string): void => void process.stderr.write(`plexus: ${text}\n`);

if (process.getuid?.() === 0 && imagePrograms() !== undefined) {
  say("downloading what an image build needs (once: 250 MB of Debian and npm packages)");
  await getImagePrograms().catch((error: unknown) =>
    say(`the image build is not ready: ${error instanceof Error ? error.message : String(error)}`),
  );
}
const reason = imagePrograms();
if (reason !== undefined) say(`tests of the image will be skipped: ${reason}`);
