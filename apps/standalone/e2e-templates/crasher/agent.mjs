console.error('the crasher cannot find its settings');
process.exit(7);
