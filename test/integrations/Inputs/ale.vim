" Opens g:file, waits until ALE has linted it, and writes what is in the location
" list into g:result, with what :ALEDetail tells of each. With g:fix set, then
" fixes the file, and writes what is left.

let s:lines = []

function! s:Linted() abort
  let l:start = reltime()
  while !exists('g:linted') || ale#engine#IsCheckingBuffer(bufnr(''))
    if reltimefloat(reltime(l:start)) > 120
      call add(s:lines, 'ALE has not linted the file in time')
      return
    endif
    sleep 20m
  endwhile
  unlet g:linted
  " A timer fills the list.
  sleep 200m
  for l:item in getloclist(0)
    call add(s:lines, printf('%s|%d col %d %s| %s', fnamemodify(bufname(l:item.bufnr), ':t'),
    \ l:item.lnum, l:item.col, l:item.type, l:item.text))
  endfor
  for l:item in g:ale_buffer_info[bufnr('')].loclist
    call extend(s:lines, split(get(l:item, 'detail', 'no detail of: ' . l:item.text), "\n"))
  endfor
  call add(s:lines, len(getloclist(0)) . ' in the location list')
endfunction

augroup Linted
  autocmd User ALELintPost let g:linted = 1
augroup END

execute 'edit' fnameescape(g:file)
call s:Linted()
if exists('g:fix')
  LibtorchFix
  call s:Linted()
endif
call writefile(s:lines, g:result)
quitall!
