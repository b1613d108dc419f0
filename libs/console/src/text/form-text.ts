/** The text of a field, without spaces around it. */
export function textIn(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** The entries of a list, between which are commas, spaces or lines. */
export function entriesIn(text: string): string[] | null {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '');
  return entries.length === 0 ? null : entries;
}

/** The lines in a text, without empty ones. */
export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The number in a field; null for an empty one. */
export const numberIn = (data: FormData, name: string): number | null => {
  const text = textIn(data, name);
  return text === '' ? null : Number(text);
};
