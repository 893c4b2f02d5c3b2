declare module '@cornerstonejs/codec-libjpeg-turbo-8bit/wasmjs' {
  /** An encoder of libjpeg-turbo; its buffers are views of its own memory. */
  export interface JpegEncoder {
    getDecodedBuffer(frame: {
      readonly width: number;
      readonly height: number;
      readonly bitsPerSample: 8;
      readonly componentCount: 3;
      readonly isSigned: false;
    }): Uint8ClampedArray;
    getEncodedBuffer(): Uint8ClampedArray;
    setQuality(quality: number): void;
    /** 0: each pixel has its own colour. */
    setSubSampling(mode: 0): void;
    encode(): void;
  }

  const load: () => Promise<{ readonly JPEGEncoder: new () => JpegEncoder }>;
  export default load;
}
