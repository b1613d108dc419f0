import { Parser } from 'htmlparser2';
import { decodeText } from './decode-text.js';
import { DAMAGED, Unreadable } from '@svc/threads';

export interface XmlElement {
  /** Without its namespace prefix. */
  readonly name: string;
  /** With their prefixes. */
  readonly attributes: Readonly<Record<string, string>>;
}

export interface XmlHandlers {
  readonly open: (element: XmlElement) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Parses XML in one pass. Declarations are skipped, so entities that a document defines are not expanded. */
export function readXml(bytes: Uint8Array | undefined, { open, text, close }: XmlHandlers): void {
  if (!bytes) throw new Unreadable(DAMAGED);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => open({ name: localName(name), attributes }),
      ontext: (data) => text?.(data),
      onclosetag: (name) => close?.(localName(name)),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(decodeText(bytes));
}

/** The elements with these names, in order. */
export function elementsOf(bytes: Uint8Array | undefined, ...names: readonly string[]): XmlElement[] {
  const found: XmlElement[] = [];
  readXml(bytes, {
    open: (element) => {
      if (names.includes(element.name)) found.push(element);
    },
  });
  return found;
}

/** The path of a part that another part links to, without its fragment. Stays inside the archive. */
export function resolvePart(from: string, target: string): string {
  // A URL drops steps that lead out of the archive, and only its path is used.
  const { pathname } = new URL(target, new URL(from, 'part:///'));
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return pathname.slice(1);
  }
}
