// Runs before each test file: properties use the same values for every mutant, so that the score is reproducible.

import * as fc from "fast-check";

fc.configureGlobal({ seed: 17 });
