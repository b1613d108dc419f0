/** The media type of a video by its first bytes: MP4, QuickTime, WebM or MPEG. */
export function videoType(bytes: Buffer): string | undefined {
  const brand = bytes.toString('latin1', 4, 12);
  if (brand.startsWith('ftyp')) return brand.startsWith('ftypqt') ? 'video/quicktime' : 'video/mp4';
  if (/^(moov|mdat|wide|free)/.test(brand)) return 'video/quicktime';
  const first = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0;
  if (first === 0x1a45dfa3) return 'video/webm';
  // A program stream, an elementary stream, or a transport stream with its sync byte every 188 bytes.
  if (first === 0x000001ba || first === 0x000001b3) return 'video/mpeg';
  return bytes[0] === 0x47 && bytes[188] === 0x47 ? 'video/mpeg' : undefined;
}
