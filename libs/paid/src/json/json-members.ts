import { CLOSE_BRACKET, COMMA, QUOTE, nameBetween, skipSpace, stringEnd, valueEnd } from './json-text.js';

/**
 * The members of a JSON object, each value as its original text. A client's values thus reach a backend byte
 * for byte: numbers of any size, key order, escapes. The text must parse as an object. Of duplicate names the
 * last one wins, as in JSON.parse.
 */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = stringEnd(text, at);
    const name = nameBetween(text, at, nameEnd);
    const start = skipSpace(text, text.indexOf(':', nameEnd) + 1);
    const end = valueEnd(text, start);
    members.set(name, text.slice(start, end).trimEnd());
    at = skipSpace(text, text.charCodeAt(end) === COMMA ? end + 1 : end);
  }
  return members;
}

/** The elements of a JSON array, each as its original text. The text must parse as an array. */
export function jsonElements(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, text.indexOf('[') + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = valueEnd(text, at);
    elements.push(text.slice(at, end).trimEnd());
    at = skipSpace(text, text.charCodeAt(end) === COMMA ? end + 1 : end);
  }
  return elements;
}

/** Joins members into the text of an object. */
export function jsonObject(members: ReadonlyMap<string, string>): string {
  let text = '';
  members.forEach((value, name) => {
    text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${value}`;
  });
  return text === '' ? '{}' : `${text}}`;
}
