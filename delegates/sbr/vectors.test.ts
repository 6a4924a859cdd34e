import { describeVectors } from "../sdk/testing/vectors-of.ts";

await describeVectors(new URL("./", import.meta.url));
