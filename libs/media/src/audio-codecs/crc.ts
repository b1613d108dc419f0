/** The checksums of single bytes, most significant bit first. Source: the tables of FLAC and Ogg. */
export function crcTable(bits: 8 | 16 | 32, polynomial: number): Uint32Array {
  const top = 2 ** (bits - 1);
  const mask = 2 ** bits - 1;
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte * 2 ** (bits - 8);
    for (let bit = 0; bit < 8; bit += 1)
      crc = crc >= top ? (((crc << 1) ^ polynomial) & mask) >>> 0 : (crc << 1) >>> 0;
    return crc;
  });
}
