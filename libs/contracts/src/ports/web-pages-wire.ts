import { z } from 'zod';
import { type PageRequest, PageUnread, type WebPage } from './web-pages.js';

/** A call of `read` on the wire. */
export const PageRequestOnWire: z.ZodType<PageRequest> = z.object({
  accountId: z.string().min(1).max(300),
  url: z.string().min(1).max(8_192),
});

/** The response of `read`: the page's content, or why it was not read. */
export const WebPageReply = z.union([
  z.object({ url: z.string(), title: z.string(), text: z.string(), publishedAt: z.string().optional() }),
  z.object({ failed: z.string() }),
]);
export type WebPageReply = z.infer<typeof WebPageReply>;

/** Rethrows any error but PageUnread. */
export async function encodePage(reading: Promise<WebPage>): Promise<WebPageReply> {
  try {
    return { ...(await reading) };
  } catch (error) {
    if (!(error instanceof PageUnread)) throw error;
    return { failed: error.reason };
  }
}

/** The result of the port. Throws PageUnread if the response contains one. */
export function decodePage(reply: WebPageReply): WebPage {
  if ('failed' in reply) throw new PageUnread(reply.failed);
  const { publishedAt, ...page } = reply;
  return publishedAt === undefined ? page : { ...page, publishedAt };
}
