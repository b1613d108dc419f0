import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { Unreadable } from '@svc/threads';

/** The text of the pages in order, separated by empty lines. Stops at a page that ends beyond the limit. */
export async function pdfText(bytes: Uint8Array, limit: number): Promise<string> {
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const home = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const loading = getDocument({
    data: bytes,
    verbosity: VerbosityLevel.ERRORS,
    // Asian fonts that are not embedded need these tables to map their characters.
    cMapUrl: join(home, 'cmaps') + sep,
    cMapPacked: true,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
    useWorkerFetch: false,
    isOffscreenCanvasSupported: false,
  });
  try {
    const document = await loading.promise;
    const pages: string[] = [];
    let length = 0;
    for (let number = 1; number <= document.numPages && length <= limit; number += 1) {
      const page = await document.getPage(number);
      const stream = page.streamTextContent() as ReadableStream<PageItems>;
      const text = await pageText(stream, limit - length);
      page.cleanup();
      pages.push(text);
      length += text.length + 2;
    }
    return pages.join('\n\n');
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException')
      throw new Unreadable('the file is password-protected');
    throw error;
  } finally {
    await loading.destroy();
  }
}

interface PageItems {
  readonly items: readonly ({ readonly str: string; readonly hasEOL: boolean } | { readonly type: string })[];
}

async function pageText(stream: ReadableStream<PageItems>, limit: number): Promise<string> {
  const reader = stream.getReader();
  let text = '';
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    for (const item of next.value.items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    if (text.length > limit) {
      await reader.cancel(new Error('enough'));
      break;
    }
  }
  return text.trimEnd();
}
