/** Samples of a frame at 48 kHz, by the last bits of the configuration of a packet. */
const SILK = [480, 960, 1_920, 2_880] as const;
const HYBRID = [480, 960, 480, 960] as const;
const CELT = [120, 240, 480, 960] as const;

export const OPUS_RATE = 48_000;

/** A packet has at most 120 ms. */
const PACKET_SAMPLES = 5_760;

/** The samples of a packet, by its first two bytes. */
export function opusSamples(first: number, second: number): number {
  const configuration = first >> 3;
  const lengths = configuration < 12 ? SILK : configuration < 16 ? HYBRID : CELT;
  const code = first & 3;
  const frames = code === 0 ? 1 : code === 3 ? second & 63 : 2;
  return Math.min(frames * (lengths[configuration & 3] ?? 0), PACKET_SAMPLES);
}
