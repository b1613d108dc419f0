import { type Fields, isFields } from '@svc/contracts/inference';

/** Members that say what something is. A short value of one of them is a label. */
const DESCRIPTIONS: ReadonlySet<string> = new Set(['type', 'id', 'format', 'role', 'status', 'call_id']);

const LABEL_CHARACTERS = 64;

/** The most characters of all labels of a response. Usual responses have a quarter of them. */
const LABELS_CHARACTERS = 1_024;

/** The most texts of a message with which the texts of a further member are compared. */
const COMPARED_TEXTS = 8;

/** A longer place is cut: it only separates texts. */
const PLACE_CHARACTERS = 256;

const OWN_TEXTS: ReadonlySet<string> = new Set(['content', 'reasoning_content', 'refusal']);

/** Members whose texts are never copies. */
const GENERATED: ReadonlySet<string> = new Set(['content', 'tool_calls']);

/** Gets a text, and the place in the message at which it continues an earlier one. */
type TextReader = (text: string, place: string) => void;

/** Whether a member of a message is a text that the meter reads itself, or is not passed on. */
export function isRead(name: string, value: unknown): boolean {
  if (value === undefined || name === 'role') return true;
  return OWN_TEXTS.has(name) && (typeof value === 'string' || value === null);
}

/**
 * Reads the texts of a message or delta that no other reader knows: every string in it, whatever its name and
 * depth, once. Two kinds of strings are left out:
 * - Labels: names of members, types and ids. They are no output, and every chunk repeats them. Output that is
 *   sent as labels soon exceeds their size; from then on it is read as well.
 * - Copies: the text of a member that repeats the text of another one in the same message. Some servers send
 *   reasoning under two or three names.
 */
export class OtherTexts {
  private readonly labels = new Set<string>();
  private labelCharacters = LABELS_CHARACTERS;

  /** @param hasPlaces Whether readers need the places of texts. */
  constructor(private readonly hasPlaces: boolean) {}

  /**
   * @param sent The texts of the message that are already read.
   * @param reader Also gets whether the model writes the text token by token.
   */
  read(
    message: Fields,
    sent: readonly string[],
    reader: (text: string, place: string, isGenerated: boolean) => void,
  ): void {
    let texts = sent;
    for (const name in message) {
      const value = message[name];
      if (isRead(name, value)) continue;
      const isGenerated = GENERATED.has(name);
      const copy = isGenerated || texts.length === 0 ? undefined : new Copy(texts);
      let own = '';
      const read: TextReader = (text, place) => {
        if (copy?.continues(text) === true) return;
        own += text;
        reader(text, place, isGenerated);
      };
      this.eachText(value, this.nameIn(name, read), read);
      if (own !== '' && texts.length < COMPARED_TEXTS) texts = [...texts, own];
    }
  }

  private eachText(value: unknown, place: string, read: TextReader): void {
    if (typeof value === 'string') {
      if (value !== '') read(value, place);
    } else if (Array.isArray(value)) {
      for (let position = 0; position < value.length; position += 1) {
        const entry: unknown = value[position];
        this.eachText(entry, this.within(place, indexOf(entry) ?? position), read);
      }
    } else if (isFields(value)) {
      for (const name in value) {
        const member = value[name];
        if (member === undefined) continue;
        const inner = this.within(place, this.nameIn(name, read));
        const isDescription = typeof member === 'string' && DESCRIPTIONS.has(name) && this.isLabel(member);
        if (!isDescription) this.eachText(member, inner, read);
      }
    }
  }

  /** A name as part of a place. One that is no label is read as a text. */
  private nameIn(name: string, read: TextReader): string {
    if (this.isLabel(name)) return name;
    read(name, 'names');
    return '';
  }

  private within(place: string, part: string | number): string {
    return this.hasPlaces && place.length <= PLACE_CHARACTERS ? `${place}.${part}` : place;
  }

  private isLabel(text: string): boolean {
    if (text.length > LABEL_CHARACTERS) return false;
    if (this.labels.has(text)) return true;
    if (text.length > this.labelCharacters) return false;
    this.labelCharacters -= text.length;
    this.labels.add(text);
    return true;
  }
}

/** Follows the strings of a member as long as they repeat one of several texts from its beginning. */
class Copy {
  private at = 0;

  constructor(private texts: readonly string[]) {}

  continues(text: string): boolean {
    const still = this.texts.filter((known) => known.startsWith(text, this.at));
    if (still.length === 0) return false;
    this.texts = still;
    this.at += text.length;
    return true;
  }
}

/** The index of an entry of a list that arrives in parts. */
function indexOf(entry: unknown): number | undefined {
  return isFields(entry) && Number.isSafeInteger(entry['index']) ? Number(entry['index']) : undefined;
}
