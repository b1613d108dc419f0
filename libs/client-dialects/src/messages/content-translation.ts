import type { AssistantBlock, UserBlock } from '@svc/api/messages';
import type { Issue } from '@svc/contracts/problems';
import type { LongStrings } from '@svc/runtime';
import {
  type JsonPart,
  elementsOf,
  listPart,
  membersOf,
  objectPart,
  partOf,
  prefixedPart,
  writtenJson,
} from '@svc/paid/json';
import { textPart } from '@svc/text/request';

export type Path = Issue['path'];

/** A part of a chat message, and where it was in the client's request. */
export interface PlacedPart {
  readonly part: JsonPart;
  readonly path: Path;
}

/** A content, and where its parts were. */
export interface PlacedContent {
  readonly content: JsonPart;
  readonly paths: readonly Path[];
}

type Block = UserBlock | AssistantBlock;

/** A block, and where it is in the client's request. */
export interface PlacedBlock<Type extends Block = Block> {
  readonly value: Type;
  readonly part: JsonPart;
  readonly path: Path;
}

/** The blocks of a content: its own, or one with its text. */
export function blocksOf<Type extends Block>(content: JsonPart, path: Path): PlacedBlock<Type>[] {
  if (typeof content.value === 'string') {
    if (content.value === '') return [];
    const part = objectPart([
      ['type', partOf('text')],
      ['text', content],
    ]);
    return [{ value: part.value as Type, part, path }];
  }
  return elementsOf(content).map((part, index) => ({
    value: part.value as Type,
    part,
    path: [...path, index],
  }));
}

/**
 * Parts as a content. A single text without a mark for caches is a string, which every chat template
 * understands.
 */
export function contentOf(parts: readonly PlacedPart[]): PlacedContent {
  const [first] = parts;
  if (first && parts.length === 1) {
    const members = membersOf(first.part);
    const text = members.get('text');
    if (text && !members.has('cache_control')) return { content: text, paths: [first.path] };
  }
  return { content: listPart(parts.map(({ part }) => part)), paths: parts.map(({ path }) => path) };
}

/** Translates the blocks of messages to the parts of chat messages. */
export class ContentTranslation {
  constructor(private readonly strings: LongStrings) {}

  /** The parts of a block of a user message or a tool's result. */
  async parts({
    value,
    part,
    path,
  }: PlacedBlock<Exclude<UserBlock, { type: 'tool_result' }>>): Promise<PlacedPart[]> {
    const members = membersOf(part);
    const cache = cacheOf(members);
    switch (value.type) {
      case 'text':
        return [{ part: textPart(members.get('text'), cache), path }];
      case 'image':
        return [{ part: imagePart(members, cache), path }];
      case 'search_result': {
        const texts = value.content.map(({ text }) => text).join('\n');
        const data = await this.plainText(`${value.title}\n${value.source}\n\n${texts}`);
        return [{ part: filePart([data, partOf('search result')], cache), path }];
      }
      case 'document':
        return this.documentParts({ value, part, path });
    }
  }

  /** A text as a part, with its long strings kept apart. */
  async written(text: string): Promise<JsonPart> {
    return { value: text, text: await writtenJson(text, this.strings) };
  }

  /** JSON as a string. It is the client's text, so that numbers of any size are preserved. */
  async asText({ text }: JsonPart): Promise<JsonPart> {
    return this.written(Buffer.concat(await this.strings.bytesOf(text)).toString());
  }

  /** A document is a file. */
  private async documentParts({
    value,
    part,
    path,
  }: PlacedBlock<Extract<UserBlock, { type: 'document' }>>): Promise<PlacedPart[]> {
    const members = membersOf(part);
    const source = membersOf(members.get('source') ?? partOf({}));
    const { context, title } = value;
    const name = title ? members.get('title') : undefined;
    const file = (data: JsonPart | undefined): PlacedPart => ({
      part: filePart([data, name], cacheOf(members)),
      path,
    });
    const before = context ? [{ part: textPart(members.get('context')), path }] : [];
    switch (value.source.type) {
      case 'base64': {
        const data = source.get('data');
        return [...before, file(data && prefixedPart('data:application/pdf;base64,', data))];
      }
      case 'url':
        return [...before, file(source.get('url'))];
      case 'text':
        return [...before, file(await this.plainText(value.source.data))];
      case 'content': {
        const { content } = value.source;
        if (typeof content === 'string') return [...before, file(await this.plainText(content))];
        const blocks = blocksOf<Extract<UserBlock, { type: 'text' | 'image' }>>(
          source.get('content') ?? partOf([]),
          [...path, 'source', 'content'],
        );
        const text = content.flatMap((each) => (each.type === 'text' ? [each.text] : [])).join('\n');
        const images = blocks.filter(({ value: each }) => each.type === 'image');
        const files = text === '' ? [] : [file(await this.plainText(text))];
        const shown = await Promise.all(images.map((image) => this.parts(image)));
        return [...before, ...files, ...shown.flat()];
      }
    }
  }

  private plainText(text: string): Promise<JsonPart> {
    return this.written(`data:text/plain;base64,${Buffer.from(text).toString('base64')}`);
  }
}

/** A file, whose text the model gets as untrusted content. */
function filePart(
  [data, name]: readonly [data: JsonPart | undefined, name: JsonPart | undefined],
  cache: JsonPart | undefined,
): JsonPart {
  return objectPart([
    ['type', partOf('file')],
    [
      'file',
      objectPart([
        ['file_data', data],
        ['filename', name],
      ]),
    ],
    ['cache_control', cache],
  ]);
}

function imagePart(members: ReadonlyMap<string, JsonPart>, cache: JsonPart | undefined): JsonPart {
  const source = membersOf(members.get('source') ?? partOf({}));
  const data = source.get('data');
  const url = data
    ? prefixedPart(`data:${String(source.get('media_type')?.value)};base64,`, data)
    : source.get('url');
  return objectPart([
    ['type', partOf('image_url')],
    ['image_url', objectPart([['url', url]])],
    ['cache_control', cache],
  ]);
}

/** The mark for caches; undefined also for null, which chat completions would count. */
export function cacheOf(members: ReadonlyMap<string, JsonPart>): JsonPart | undefined {
  const cache = members.get('cache_control');
  return cache?.value === null ? undefined : cache;
}
