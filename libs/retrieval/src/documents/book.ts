import { Archive } from './archive.js';
import { decodeText } from './decode-text.js';
import { DAMAGED, Unreadable } from '@svc/threads';
import { markdownOf } from './markdown.js';
import { elementsOf, resolvePart } from './xml.js';

const container = 'META-INF/container.xml';
const encryption = 'META-INF/encryption.xml';

/** EPUB: the chapters in reading order as Markdown. */
export function bookMarkdown(bytes: Uint8Array, limit: number): string {
  const archive = new Archive(bytes);
  const marks = archive.read((name) => name === container || name === encryption);
  const [root] = elementsOf(marks.get(container), 'rootfile');
  const path = root?.attributes['full-path'] ?? '';
  const chapters = chaptersOf(path, archive.read((name) => name === path).get(path));

  // Fonts are often obfuscated, which does no harm; a protected book has encrypted chapters.
  const locks = elementsOf(marks.get(encryption) ?? new Uint8Array(), 'CipherReference');
  const locked = new Set(locks.map(({ attributes }) => resolvePart('', attributes['URI'] ?? '')));
  if (chapters.some((chapter) => locked.has(chapter))) throw new Unreadable('the file is copy-protected');

  const wanted = new Set(chapters);
  const parts = archive.read((name) => wanted.has(name));
  const texts: string[] = [];
  let length = 0;
  for (const chapter of wanted) {
    const part = parts.get(chapter);
    const text = part ? markdownOf(decodeText(part)) : '';
    if (text !== '') texts.push(text);
    length += text.length;
    if (length > limit) break;
  }
  return texts.join('\n\n');
}

function chaptersOf(path: string, packageFile: Uint8Array | undefined): string[] {
  const elements = elementsOf(packageFile, 'item', 'itemref');
  const paths = new Map<string, string>();
  const chapters: string[] = [];
  for (const { name, attributes } of elements) {
    if (name === 'item') paths.set(attributes['id'] ?? '', resolvePart(path, attributes['href'] ?? ''));
    else chapters.push(paths.get(attributes['idref'] ?? '') ?? '');
  }
  if (chapters.length === 0) throw new Unreadable(DAMAGED);
  return chapters;
}
