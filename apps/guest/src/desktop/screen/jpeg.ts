import type { JpegEncoder } from '@cornerstonejs/codec-libjpeg-turbo-8bit/wasmjs';
import type { Picture } from './pixels.js';

let encoder: Promise<JpegEncoder> | undefined;

/** Encodes a picture whose rows have no lead. */
export const encodeJpeg = async ({ width, height, bytes }: Picture, quality: number): Promise<Buffer> => {
  encoder ??= loadEncoder().catch((error: unknown) => {
    // The next picture tries again.
    encoder = undefined;
    throw error;
  });
  const jpeg = await encoder;
  const frame = { width, height, bitsPerSample: 8, componentCount: 3, isSigned: false } as const;
  jpeg.getDecodedBuffer(frame).set(bytes);
  jpeg.setQuality(quality);
  // Coloured text stays legible.
  jpeg.setSubSampling(0);
  jpeg.encode();
  return Buffer.from(jpeg.getEncodedBuffer());
};

/** Loaded by the first picture: most models take PNG. */
const loadEncoder = async (): Promise<JpegEncoder> => {
  const { default: load } = await import('@cornerstonejs/codec-libjpeg-turbo-8bit/wasmjs');
  const { JPEGEncoder } = await load();
  return new JPEGEncoder();
};
