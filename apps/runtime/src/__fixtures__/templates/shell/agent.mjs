import { exec } from 'node:child_process';
import { createServer } from 'node:http';

createServer((request, response) => {
  if (request.url !== '/chat') return response.end('ok');
  let text = '';
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    exec(JSON.parse(text).message, (error, stdout, stderr) => {
      response.end(JSON.stringify({ response: `${stdout}${stderr}`.trim() }));
    });
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
