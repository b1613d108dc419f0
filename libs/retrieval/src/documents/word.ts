import mammoth from 'mammoth';
import { Archive, repack } from './archive.js';
import { markdownOf } from './markdown.js';

/** Headings, lists, tables and links as Markdown. Images, comments and headers are left out. */
export async function wordMarkdown(bytes: Uint8Array): Promise<string> {
  const parts = new Archive(bytes).read((name) => /\.(xml|rels)$/i.test(name));
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(repack(parts)) },
    {
      externalFileAccess: false,
      styleMap: ["p[style-name='Title'] => h1:fresh"],
      convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })),
    },
  );
  return markdownOf(value);
}
