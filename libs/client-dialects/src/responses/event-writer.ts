/** Writes the events of one response: each with its type as its name, and with its number. */
export class EventWriter {
  private frames = '';
  private number = 0;

  add(type: string, fields: object): void {
    const data = JSON.stringify({ type, ...fields, sequence_number: this.nextNumber() });
    this.frames += `event: ${type}\ndata: ${data}\n\n`;
  }

  /** Adds an event whose text up to the content of its last string is `start`. */
  addText(start: string, textJson: string): void {
    this.frames += `${start}${textJson}","sequence_number":${this.nextNumber()}}\n\n`;
  }

  /** The events since the last call. */
  take(): string {
    const { frames } = this;
    this.frames = '';
    return frames;
  }

  private nextNumber(): number {
    return this.number++;
  }
}

/** The beginning of an event whose last member but its number is a string. */
export function eventStart(type: string, fields: object, member: string): string {
  const head = JSON.stringify({ type, ...fields }).slice(0, -1);
  return `event: ${type}\ndata: ${head},"${member}":"`;
}
