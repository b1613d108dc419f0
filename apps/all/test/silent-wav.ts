/** A second of silence: 16 bits, mono, 8 kHz. */
export function silentWav(): Buffer {
  const file = Buffer.alloc(44 + 16_000);
  file.write('RIFF');
  file.writeUInt32LE(36 + 16_000, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(8_000, 24);
  file.writeUInt32LE(16_000, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(16_000, 40);
  return file;
}
