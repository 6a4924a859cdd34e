// The sandbox process that the launcher executes. Arguments: the maximum of memory pages and of table entries that V8 allows any guest.

import { serveGuests, setV8Limits } from "./serve-guests.ts";

// The global `process`, not `node:process`: importing that module opens stdin as a stream, which makes reads fail with EAGAIN.
const [, , pages, entries] = process.argv;
setV8Limits(pages, entries);
void serveGuests({
  exit: (status) => process.exit(status),
  // V8 gets time for its own tasks.
  pause: () => new Promise((resolve) => setImmediate(resolve)),
});
