" Opens g:file, runs :make on it and writes the quickfix list into g:result.

execute 'edit' fnameescape(g:file)
silent! make %:S
let s:lines = []
for s:item in getqflist()
  call add(s:lines, printf('%s|%d col %d %s| %s', fnamemodify(bufname(s:item.bufnr), ':t'),
  \ s:item.lnum, s:item.col, s:item.type, s:item.text))
endfor
call writefile(s:lines, g:result)
quitall!
