" Opens g:file, and changes it without saving. What ALE's language client shows each time
" goes into g:result.

let s:lines = []

function! s:Show(count) abort
  let l:start = reltime()
  while len(ale#engine#GetLoclist(bufnr(''))) != a:count && reltimefloat(reltime(l:start)) < 120
    sleep 20m
  endwhile
  for l:item in ale#engine#GetLoclist(bufnr(''))
    call add(s:lines, printf('%d col %d %s| %s', l:item.lnum, l:item.col, l:item.type, l:item.text))
    call extend(s:lines, split(get(l:item, 'detail', ''), "\n")[1:])
  endfor
  call add(s:lines, len(ale#engine#GetLoclist(bufnr(''))) . ' in all')
endfunction

execute 'edit' fnameescape(g:file)
ALELint
call s:Show(1)
call append('$', 'void carry(torch::Tensor &State) { State.detach(); }')
ALELint
call s:Show(2)
silent undo
ALELint
call s:Show(1)
call writefile(s:lines, g:result)
quitall!
