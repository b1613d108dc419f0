import { type JsonPart, elementsOf, joinedStrings, listPart, objectPart, partOf } from '@svc/paid/json';

/**
 * Several contents as that of one message, in linear time: one text, which every chat template accepts,
 * unless one of them has parts. Empty ones are left out.
 */
export function joinedContents(contents: readonly JsonPart[]): JsonPart {
  const said = contents.filter(({ value }) => value !== null && (value as string | unknown[]).length > 0);
  const [first] = said;
  if (first && said.length === 1) return first;
  if (said.every(({ value }) => typeof value === 'string')) return joinedStrings(said, '\n\n');
  return listPart(
    said.flatMap((each) => (typeof each.value === 'string' ? [textPart(each)] : elementsOf(each))),
  );
}

/** A text as a part of a content. */
export function textPart(text: JsonPart | undefined, cache?: JsonPart): JsonPart {
  return objectPart([
    ['type', partOf('text')],
    ['text', text],
    ['cache_control', cache],
  ]);
}
