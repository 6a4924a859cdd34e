import { expect, test } from "vitest";
import { writtenForms } from "./written-forms.ts";

test("the forms of a plain text are the text itself, its hexadecimal and its base64", () => {
  expect(writtenForms("hunter2")).toEqual(["hunter2", "68756e74657232", "aHVudGVyMg", "aHVudGVyM", "h1bnRlcj", "odW50ZXIy"]);
});

test("quotes, control characters and other scripts are escaped as JSON, Go and URLs do", () => {
  expect(writtenForms('"\u0001é&')).toEqual(
    expect.arrayContaining(['"é&', '\\"\\u0001é&', '\\"\\u0001é\\u0026', '\\"\\u0001\\u00e9&', '\\"\\x01é&', "%22%01%C3%A9%26"]),
  );
});
