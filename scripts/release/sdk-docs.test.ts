// Links of the pages in the package for authors.

import { expect, test } from "vitest";
import { withPackagedLinks } from "./sdk-docs.ts";

const targets = new Map([
  ["delegates/sdk/README.md", "README.md"],
  ["docs/how-to/a.md", "docs/how-to/a.md"],
  ["wit/1.0.0/delegate.wit", "wit/1.0.0/delegate.wit"],
]);

test.each([
  ["delegates/sdk/README.md", "[a](../../docs/how-to/a.md#part)", "[a](docs/how-to/a.md#part)"],
  ["delegates/sdk/README.md", "[wit](../../wit/1.0.0/delegate.wit)", "[wit](wit/1.0.0/delegate.wit)"],
  ["docs/how-to/a.md", "[kit](../../delegates/sdk/README.md)", "[kit](../../README.md)"],
  ["docs/how-to/a.md", "[other](../other.md) and [web](https://example.org/x)", "other and [web](https://example.org/x)"],
  ["docs/how-to/a.md", "[here](#part)", "[here](#part)"],
])("in %s, %s becomes %s", (source, text, packaged) => {
  expect(withPackagedLinks(text, source, targets)).toBe(packaged);
});
