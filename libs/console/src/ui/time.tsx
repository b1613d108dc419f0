import { localTime, relative, utcMinute, utcSecond } from '../text/format.js';

interface TimeProps {
  readonly at: string;
  readonly form?: 'minute' | 'second' | 'relative';
}

const FORMS = { minute: utcMinute, second: utcSecond, relative } as const;

/** A moment in UTC; the reader's own time is in its hint. */
export const Time = ({ at, form = 'minute' }: TimeProps) => (
  <time dateTime={at} title={`${utcSecond(at)} UTC · ${localTime(at)} here`}>
    {FORMS[form](at)}
  </time>
);
