const LINE_FEED = 0x0a;

/** An event of a backend may have this many bytes. More means that it never ends its lines. */
const EVENT_LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * Reads server-sent events from bytes that arrive cut anywhere, inside characters included. Gives the data of each
 * event; names, ids and comments are dropped. Line ends may be LF or CRLF.
 */
export class ServerSentEvents {
  private rest: Buffer | undefined;
  private data: string | undefined;

  /** The events that these bytes complete. Throws RangeError on an event over the limit. */
  read(bytes: Buffer): string[] {
    const all = this.rest ? Buffer.concat([this.rest, bytes]) : bytes;
    const end = all.lastIndexOf(LINE_FEED) + 1;
    // A line feed is never part of a longer character, so what lies before one can be decoded.
    this.rest = end < all.length ? all.subarray(end) : undefined;
    const size = (this.rest?.length ?? 0) + (this.data?.length ?? 0);
    if (size > EVENT_LIMIT_BYTES) throw new RangeError('an event is larger than its limit');
    return end === 0 ? [] : this.lines(all.toString('utf8', 0, end));
  }

  private lines(text: string): string[] {
    const events: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = text.slice(start, text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end);
      start = end + 1;
      if (line === '') {
        if (this.data !== undefined) events.push(this.data);
        this.data = undefined;
      } else if (line.startsWith('data:')) {
        const value = line.slice(line.charCodeAt(5) === 32 ? 6 : 5);
        this.data = this.data === undefined ? value : `${this.data}\n${value}`;
      }
    }
    return events;
  }

  /** What was begun when the bytes ended: the data of an event whose blank line is missing. */
  end(): string[] {
    const last = this.rest ? this.lines(`${this.rest.toString('utf8')}\n`) : [];
    if (this.data !== undefined) last.push(this.data);
    this.rest = undefined;
    this.data = undefined;
    return last;
  }
}
