const BLOCK = 512;

/** A tar archive (ustar) with these files. Names have at most 100 bytes. */
export const tarArchive = (files: Readonly<Record<string, Buffer>>): Buffer =>
  Buffer.concat([
    ...Object.entries(files).flatMap(([name, content]) => [
      header(name, content.length),
      content,
      Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK),
    ]),
    Buffer.alloc(2 * BLOCK),
  ]);

const header = (name: string, size: number): Buffer => {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(name, 0, 'latin1');
  block.write(octal(0o644, 8), 100, 'latin1');
  for (const at of [108, 116]) block.write(octal(0, 8), at, 'latin1');
  block.write(octal(size, 12), 124, 'latin1');
  block.write(octal(0, 12), 136, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
};
