import { type JsonPart, elementsOf, joinedStrings, listPart, objectPart, partOf } from '@svc/paid/json';

/**
 * Several contents as that of one message, in linear time: one text, which every chat template accepts,
 * unless one of them has parts. Empty ones are left out.
 */
export function joinedContents(contents: readonly JsonPart[]): JsonPart {
  const filled = contents.filter(({ value }) => value !== null && (value as string | unknown[]).length > 0);
  const [first] = filled;
  if (first && filled.length === 1) return first;
  if (filled.every(({ value }) => typeof value === 'string')) return joinedStrings(filled, '\n\n');
  return listPart(
    filled.flatMap((each) => (typeof each.value === 'string' ? [textPart(each)] : elementsOf(each))),
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
