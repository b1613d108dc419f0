import { z } from 'zod';
import { type PageRequest, PageUnread, type WebPage } from './web-pages.js';

/** A call of `read` on the wire. */
export const PageRequestOnWire: z.ZodType<PageRequest> = z.object({
  accountId: z.string().min(1).max(300),
  url: z.string().min(1).max(8_192),
});

/** An answer of `read` on the wire: what the page says, or why it was not read. */
export const WebPageReply = z.union([
  z.object({ url: z.string(), title: z.string(), text: z.string(), publishedAt: z.string().optional() }),
  z.object({ failed: z.string() }),
]);
export type WebPageReply = z.infer<typeof WebPageReply>;

/** Any error but PageUnread is thrown on. */
export async function encodePage(reading: Promise<WebPage>): Promise<WebPageReply> {
  try {
    return { ...(await reading) };
  } catch (error) {
    if (!(error instanceof PageUnread)) throw error;
    return { failed: error.reason };
  }
}

/** What the port answers. Throws PageUnread where that was the answer. */
export function decodePage(reply: WebPageReply): WebPage {
  if ('failed' in reply) throw new PageUnread(reply.failed);
  const { publishedAt, ...page } = reply;
  return publishedAt === undefined ? page : { ...page, publishedAt };
}
