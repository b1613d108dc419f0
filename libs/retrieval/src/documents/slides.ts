import { Archive, type Parts } from './archive.js';
import { markdownTable } from './markdown.js';
import { elementsOf, readXml, resolvePart, type XmlElement } from './xml.js';

const presentation = 'ppt/presentation.xml';

/** A heading for each slide, its text as lines and lists, tables as tables, and the speaker's notes. */
export function slidesMarkdown(bytes: Uint8Array, limit: number): string {
  const parts = new Archive(bytes).read((name) =>
    /^ppt\/((_rels\/)?presentation\.xml(\.rels)?|(slides|notesSlides)\/.*\.(xml|rels))$/i.test(name),
  );
  const slides = linksOf(parts, presentation);
  const texts: string[] = [];
  let length = 0;
  for (const [index, { attributes }] of elementsOf(parts.get(presentation), 'sldId').entries()) {
    const path = slides.get(relationId(attributes) ?? '')?.path;
    const slide = parts.get(path ?? '');
    if (path === undefined || !slide) continue;
    const { title, blocks } = readSlide(slide);
    const notes = notesOf(parts, path);
    const text = [`## ${title || `Slide ${index + 1}`}`, ...blocks, ...notes].join('\n\n');
    texts.push(text);
    length += text.length;
    if (length > limit) break;
  }
  return texts.join('\n\n');
}

const relationId = (attributes: XmlElement['attributes']): string | undefined =>
  Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1];

function linksOf(parts: Parts, part: string): Map<string, { path: string; type: string }> {
  const slash = part.lastIndexOf('/');
  const relations = parts.get(`${part.slice(0, slash)}/_rels/${part.slice(slash + 1)}.rels`);
  const links = new Map<string, { path: string; type: string }>();
  if (!relations) return links;
  for (const { attributes } of elementsOf(relations, 'Relationship')) {
    const { Id: id = '', Target: target = '', Type: type = '' } = attributes;
    if (attributes['TargetMode'] !== 'External') links.set(id, { path: resolvePart(part, target), type });
  }
  return links;
}

function notesOf(parts: Parts, slide: string): string[] {
  const links = [...linksOf(parts, slide).values()];
  const link = links.find(({ type }) => type.endsWith('/notesSlide'));
  const notes = parts.get(link?.path ?? '');
  if (!notes) return [];
  const text = readSlide(notes).blocks.join('\n');
  return text === '' ? [] : [`Notes:\n\n${text}`];
}

interface Slide {
  readonly title: string;
  readonly blocks: readonly string[];
}

/** Placeholders that repeat on every slide. */
const furniture = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg']);

/** Collects the text of one slide while its XML is parsed. */
class SlideText {
  title = '';
  readonly blocks: string[] = [];
  /** Undefined in a shape that is not a placeholder. */
  private placeholder: string | undefined;
  private skipped = 0;
  private lines: string[] = [];
  private paragraph = { text: '', level: 0 };
  private isText = false;
  private rows: string[][] = [];
  private cell: string[] | undefined;

  open({ name, attributes }: XmlElement): void {
    if (name === 'Fallback') this.skipped += 1;
    if (name === 'sp') this.placeholder = undefined;
    if (name === 'ph') this.placeholder = attributes['type'] ?? 'body';
    if (name === 'tbl') this.rows = [];
    if (name === 'tr') this.rows.push([]);
    if (name === 'tc') this.cell = [];
    if (name === 'p') this.paragraph = { text: '', level: 0 };
    if (name === 'pPr') this.paragraph.level = Math.min(8, Number(attributes['lvl'] ?? 0) || 0);
    if (name === 'br') this.paragraph.text += ' ';
    if (name === 't') this.isText = true;
  }

  text(text: string): void {
    if (this.isText && this.skipped === 0) this.paragraph.text += text;
  }

  close(name: string): void {
    if (name === 'Fallback') this.skipped -= 1;
    if (name === 't') this.isText = false;
    if (name === 'p') this.closeParagraph();
    if (name === 'txBody' && !this.cell) this.closeShape();
    if (name === 'tc') {
      this.rows.at(-1)?.push((this.cell ?? []).join(' '));
      this.cell = undefined;
    }
    if (name === 'tbl' && this.rows.some((row) => row.some(Boolean)))
      this.blocks.push(markdownTable(this.rows));
  }

  private closeParagraph(): void {
    const { text, level } = this.paragraph;
    const trimmed = text.trim();
    if (trimmed === '') return;
    if (this.cell) this.cell.push(trimmed);
    else this.lines.push(this.placeholder === 'body' ? `${'  '.repeat(level)}- ${trimmed}` : trimmed);
  }

  private closeShape(): void {
    const lines = this.lines;
    this.lines = [];
    const placeholder = this.placeholder ?? '';
    if (lines.length === 0 || furniture.has(placeholder)) return;
    if (placeholder === 'title' || placeholder === 'ctrTitle') this.title = lines.join(' ');
    else this.blocks.push(lines.join('\n'));
  }
}

function readSlide(bytes: Uint8Array): Slide {
  const slide = new SlideText();
  readXml(bytes, {
    open: (element) => slide.open(element),
    text: (text) => slide.text(text),
    close: (name) => slide.close(name),
  });
  return slide;
}
